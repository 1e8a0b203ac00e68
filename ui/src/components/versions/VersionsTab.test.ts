import userEvent from '@testing-library/user-event'
import { screen, waitFor, within } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import type { Version } from '../../api/generated/Version'
import type { VersionList } from '../../api/generated/VersionList'
import { aSession } from '../../testing/builders'
import { renderFloating, type Floating } from '../../testing/floating'
import { useTestHost, type TestHost } from '../../testing/host'
import { aVersion } from '../../testing/versions'
import VersionsTab from './VersionsTab.vue'

function open(versions: Version[]): { host: TestHost } & Floating {
  const list = (left: Version[]): VersionList => ({ session_id: aSession().session_id, original_tokens: 100_234, original_messages: 450, versions: left })
  const host = useTestHost({
    version_list: () => list(versions),
    version_remove: ({ versions: gone }) => list(versions.filter((version) => !gone.includes(version.version_id))),
    version_diff: ({ left, right }) => ({ left, right, left_tokens: 100_234, right_tokens: 10_020, added: 1, removed: 0, lines: [], messages: { both: 58, left_only: 392, right_only: 0, left_ranges: [], right_ranges: [] }, keepits: [] }),
  })
  return { host, ...renderFloating(VersionsTab, { detail: { summary: aSession() } }, ['compress', 'jump']) }
}
const removal = (host: TestHost): unknown => host.calls.find((call) => call.command === 'version_remove')?.request

describe('the versions of a session', () => {
  it('offer to make the first one where there is none', async () => {
    const { told } = open([])
    await userEvent.click(await screen.findByTestId('versions-compress'))
    expect(told['compress']).toHaveLength(1)
  })

  it('are listed with what they keep and who uses them', async () => {
    open([aVersion(), aVersion({ version_id: 'v002', used_in: ['auth', 'cache'], last_used: '2026-01-21T10:00:00.000Z' })])
    const row = within(await screen.findByTestId('versions-table')).getByRole('row', { name: /v002/ })
    expect(row).toHaveTextContent('10,020')
    expect(row).toHaveTextContent('6 of 7')
    expect(row).toHaveTextContent('2 compositions')
  })

  it('are deleted together once that is confirmed', async () => {
    const { host } = open([aVersion(), aVersion({ version_id: 'v002' }), aVersion({ version_id: 'v003' })])
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Choose v001' }))
    await userEvent.click(screen.getByRole('checkbox', { name: 'Choose v003' }))
    expect(screen.getByText('2 versions chosen, 20,040 tokens')).toBeVisible()
    await userEvent.click(screen.getByTestId('versions-delete'))
    expect(removal(host), 'asking is not doing').toBeUndefined()
    await userEvent.click(await screen.findByTestId('prune-confirm'))
    await waitFor(() => expect(removal(host)).toEqual({ session: aSession().session_id, versions: ['v001', 'v003'], force: false }))
    await waitFor(() => expect(screen.queryByRole('row', { name: /v003/ })).toBeNull())
  })

  it('that compositions use are deleted only after a yes of its own', async () => {
    const { host } = open([aVersion({ used_in: ['auth'] })])
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Choose v001' }))
    await userEvent.click(screen.getByTestId('versions-delete'))
    expect(await screen.findByText(/1 composition uses v001/)).toBeVisible()
    expect(screen.getByTestId('prune-confirm')).toBeDisabled()
    await userEvent.click(screen.getByRole('checkbox', { name: 'Delete although compositions use them' }))
    await userEvent.click(screen.getByTestId('prune-confirm'))
    await waitFor(() => expect(removal(host)).toMatchObject({ versions: ['v001'], force: true }))
  })

  it('are compared with the original when one is chosen, with each other when two are', async () => {
    const { host } = open([aVersion(), aVersion({ version_id: 'v002' })])
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Choose v002' }))
    await userEvent.click(screen.getByRole('button', { name: 'Compare with the original' }))
    await waitFor(() => expect(host.calls.at(-1)?.request).toEqual({ session: aSession().session_id, left: 'original', right: 'v002' }))
  })
})
