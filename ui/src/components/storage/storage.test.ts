import { render, screen, waitFor, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Component } from 'vue'
import type { Checkpoint } from '../../api/generated/Checkpoint'
import type { HealthFinding } from '../../api/generated/HealthFinding'
import type { UnusedVersion } from '../../api/generated/UnusedVersion'
import { checkedHealth } from '../../state/storage'
import { useTestHost, type TestHost } from '../../testing/host'
import { withProviders } from '../../testing/render'
import CheckpointList from './CheckpointList.vue'
import HealthList from './HealthList.vue'
import MonthChart from './MonthChart.vue'
import UnusedVersions from './UnusedVersions.vue'

vi.setConfig({ testTimeout: 30_000 })

function show(component: Component, props: Record<string, unknown> = {}): ReturnType<typeof userEvent.setup> {
  const nothing = { template: '<i />' }
  const routes = ['session', 'project'].map((name) => ({ path: `/${name}/:sessionId?/:projectId?`, name, component: nothing }))
  render(withProviders(component, props), { global: { plugins: [createRouter({ history: createMemoryHistory(), routes: [...routes, { path: '/', component: nothing }] })] } })
  return userEvent.setup()
}

/** Answers a job at once by its event. */
function jobs(host: TestHost, answers: Record<string, unknown>): void {
  host.answers.job_start = ({ command }) => {
    queueMicrotask(() => host.tell({ event: 'job_done', job_id: command, response: answers[command] }))
    return { job_id: command }
  }
}

const sound = (name: string): HealthFinding => ({ name, ok: true, summary: `all of ${name}`, problems: [], remedy: null })
const torn: HealthFinding = { name: 'packs', ok: false, summary: '3 packs', problems: ['a pack is cut short'], remedy: '`recollect doctor --repair` mends it' }

describe('the health of the memory', () => {
  beforeEach(() => (checkedHealth.value = undefined))

  it('is checked when asked, and says what is wrong and mends it', async () => {
    const host = useTestHost()
    jobs(host, { health_check: { ok: false, checks: [sound('database'), torn, sound('permissions')], mended: [] }, health_repair: { ok: true, checks: [sound('database'), sound('packs'), sound('permissions')], mended: ['read 1 file again'] } })
    const user = show(HealthList)
    await user.click(screen.getByRole('button', { name: 'Check' }))
    expect(await screen.findByText('Archive damaged')).toBeInTheDocument()
    expect(screen.getByText('A pack is cut short')).toBeInTheDocument()
    expect(screen.queryByText(/--repair/), 'words of a terminal are not said in the window').toBeNull()
    await user.click(screen.getByTestId('repair'))
    expect(await screen.findByText('Archive verified')).toBeInTheDocument()
    expect(screen.getByText('Read 1 file again')).toBeInTheDocument()
    expect(screen.queryByTestId('repair'), 'nothing is left to be mended').toBeNull()
  })

  it('shows how far the check is and stops when asked', async () => {
    const host = useTestHost({ job_start: () => ({ job_id: 'j' }), job_cancel: () => ({ was_running: true }) })
    const user = show(HealthList)
    await user.click(screen.getByRole('button', { name: 'Check' }))
    await waitFor(() => expect(host.calls).toHaveLength(1))
    await Promise.resolve()
    host.tell({ event: 'job_progress', job_id: 'j', progress: { done: 5_000_000, total: 20_000_000, unit: 'bytes', stage: 'reading packs' } })
    expect(await screen.findByText('5 MB of 20 MB')).toBeInTheDocument()
    await user.click(screen.getByRole('button', { name: 'Cancel' }))
    expect(host.calls.at(-1)).toMatchObject({ command: 'job_cancel' })
    host.tell({ event: 'job_failed', job_id: 'j', error: { kind: 'cancelled', message: 'cancelled', hint: null } })
    expect(await screen.findByText('Not checked yet'), 'a cancelled check is no failure').toBeInTheDocument()
  })
})

describe('versions that nothing uses', () => {
  const version = (id: string, session: string): UnusedVersion => ({ session_id: session, session_title: `Title of ${session}`, version_id: id, created_at: '2026-01-20T10:00:00.000Z', output_tokens: 1000, bytes: 2000 })

  it('are deleted session by session, those alone that are chosen', async () => {
    const host = useTestHost({ version_remove: () => ({ versions: [], total_bytes: 0 }) as never })
    const user = show(UnusedVersions, { open: true, versions: [version('v001', 'a'), version('v002', 'a'), version('v001', 'b')] })
    await user.click(await screen.findByRole('checkbox', { name: 'All 3' }))
    await user.click(screen.getByRole('checkbox', { name: 'v002 of Title of a' }))
    await user.click(screen.getByRole('checkbox', { name: 'v001 of Title of b' }))
    await user.click(screen.getByRole('button', { name: 'Delete 2 versions' }))
    await waitFor(() => expect(host.calls.map((call) => call.request)).toEqual([
      { session: 'a', versions: ['v002'], force: false },
      { session: 'b', versions: ['v001'], force: false },
    ]))
  })
})

describe('the chart of months', () => {
  const months = ['2025-11', '2026-01'].map((month, at) => ({ month, sessions: at + 1, messages: 1, original_bytes: (at + 1) * 1e6, unique_bytes: 8e5, stored_bytes: 1e5 }))

  it('is read bar by bar with the keys, and stands as a table as well', async () => {
    const user = show(MonthChart, { months })
    await user.tab()
    await user.keyboard('{ArrowLeft}')
    expect(screen.getByRole('status')).toHaveTextContent('December 2025: 0 B in 0 sessions')
    await user.keyboard('{End}')
    expect(screen.getByRole('status')).toHaveTextContent('January 2026: 2 MB in 2 sessions; stored 100 kB, saved by packing 700 kB, repeated 1.20 MB')
    expect(within(screen.getByRole('table', { name: 'Original bytes by month' })).getAllByRole('row')).toHaveLength(4)
  })
})

describe('checkpoints', () => {
  const before: Checkpoint = { name: 'before import', created_at: '2026-01-20T10:00:00.000Z', sessions: 2, messages: 20, unique_messages: 18, bytes: 4000 }
  const state = (id: string, messages: number) => ({ session_id: id, project_id: 'p', title: `Title of ${id}`, messages, bytes: 10, keepits: 0, versions: 0, content: id })

  it('are noted under a name', async () => {
    const known: Checkpoint[] = []
    const host = useTestHost({ checkpoint_list: () => [...known], checkpoint_create: ({ name }) => { known.push({ ...before, name }); return { ...before, name } } })
    const user = show(CheckpointList)
    await user.click(await screen.findByRole('button', { name: 'New checkpoint…' }))
    expect(screen.getByRole('textbox', { name: 'Name of the checkpoint' })).toHaveFocus()
    await user.keyboard('before clean-up{Enter}')
    expect(await screen.findByTestId('checkpoint')).toHaveTextContent('before clean-up')
    expect(host.calls.map((call) => call.command)).toEqual(['checkpoint_list', 'checkpoint_create', 'checkpoint_list'])
    expect(screen.getByRole('button', { name: 'New checkpoint…' }), 'the focus is not lost').toHaveFocus()
  })

  it('are compared with what is there now', async () => {
    useTestHost({
      checkpoint_list: () => [before],
      checkpoint_diff: ({ from, to }) => {
        expect([from, to]).toEqual(['before import', null])
        return { from: before, to: { ...before, name: '', sessions: 3, messages: 32, bytes: 9000 }, added: [state('c', 12)], changed: [{ before: state('a', 8), after: { ...state('a', 10), versions: 1 } }], removed: [state('b', 2)] }
      },
    })
    const user = show(CheckpointList)
    await user.click(await screen.findByRole('button', { name: 'before import' }))
    expect(await screen.findByText('+12')).toBeInTheDocument()
    expect(screen.getByTestId('checkpoint-changed')).toHaveTextContent('8 → 10 messages, 0 → 1 versions')
    expect(screen.getByTestId('checkpoint-added')).toHaveTextContent('12 messages, 10 B')
    expect(within(screen.getByTestId('checkpoint-removed')).queryByRole('link'), 'what is gone cannot be opened').toBeNull()
  })
})
