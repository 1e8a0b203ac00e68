import { render, screen, waitFor } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { describe, expect, it } from 'vitest'
import type { ExpiringSession } from '../../api/generated/ExpiringSession'
import { expiringDays, refreshExpiring } from '../../state/expiring'
import { useTestHost } from '../../testing/host'
import { withProviders } from '../../testing/render'
import ExpiringStrip from './ExpiringStrip.vue'

const session = (given: Partial<ExpiringSession>): ExpiringSession => ({ session_id: null, title: 'Upgrade to Express 5', project_id: '-api', project: 'api', path: '/c/a.jsonl', days_left: 1, bytes: 10, archived: false, ...given })
const three = [session({ session_id: 'a' }), session({ title: 'Split the state', project: 'infra', days_left: 2 }), session({ title: 'Pin the image', project: 'infra', days_left: 2 }), session({ session_id: 'kept', archived: true })]

describe('the strip of expiring sessions', () => {
  it('names what is lost and when, and archives all of it', async () => {
    let unarchived = 3
    const host = useTestHost({
      session_expiring: () => ({ kept_days: 30, within_days: 7, total: 4, unarchived, sessions: unarchived === 0 ? [] : three }),
      job_start: () => {
        unarchived = 0
        return { job_id: 'job-1' }
      },
    })
    await refreshExpiring()
    render(withProviders(ExpiringStrip, {}))
    expect(screen.getByTestId('expiring-strip')).toHaveTextContent('3 sessions are deleted by Claude Code within 2 days and are not archived yet: Upgrade to Express 5 and 2 in infra.')
    expect([...expiringDays.value], 'the list marks those that it shows').toEqual([['a', 1]])
    await userEvent.click(screen.getByRole('button', { name: 'Archive all 3' }))
    await waitFor(() => expect(host.calls.some((call) => call.command === 'job_start')).toBe(true))
    expect(host.calls.find((call) => call.command === 'job_start')?.request).toMatchObject({ command: 'session_ingest', request: { expiring: true } })
  })

  it('is not there when everything is archived', async () => {
    useTestHost({ session_expiring: () => ({ kept_days: 30, within_days: 7, total: 1, unarchived: 0, sessions: [session({ archived: true })] }) })
    await refreshExpiring()
    render(withProviders(ExpiringStrip, {}))
    expect(screen.queryByTestId('expiring-strip')).toBeNull()
  })
})
