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
    version_diff: ({ left, right }) => ({ left, right, left_tokens: 100_234, right_tokens: 10_020, added: 1, removed: 0, lines: [], messages: { both: 0, left_only: 0, right_only: 0, left_ranges: [], right_ranges: [] }, keepits: [] }),
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

  it('are extended when the session has grown, with the settings that they were made with', async () => {
    const version = aVersion({ behind: { messages: 312, tokens: 41_000 } })
    const { told } = open([version])
    await userEvent.click(await screen.findByRole('button', { name: '312 messages behind' }))
    expect(told['compress']).toEqual([[undefined, { like: version.settings }]])
  })

  it('show their parts, of which one is compressed anew by itself', async () => {
    const part = { first: 0, last: 449, original_tokens: 100_000, output_tokens: 10_000, output_messages: 40, made_in: 'v001', settings: null }
    const version = aVersion({ version_id: 'v002', lineage: 'extended', source_version: 'v001', parts: [part, { ...part, first: 450, last: 761, made_in: 'v002' }] })
    const { told } = open([aVersion(), version])
    expect(await screen.findByText(/extends v001/)).toBeVisible()
    await userEvent.click(screen.getByRole('button', { name: '2 parts' }))
    const second = screen.getByText('messages 451 – 762').closest('tr')
    await userEvent.click(within(second as HTMLElement).getByRole('button', { name: 'Compress anew' }))
    expect(told['compress']).toEqual([[undefined, { like: version.settings, part: { version: 'v002', number: 2 } }]])
  })

  it('are verified on demand, and say where they differ', async () => {
    const { host } = open([aVersion()])
    host.answers.job_start = () => ({ job_id: 'j1' })
    await userEvent.click(await screen.findByRole('button', { name: 'More for v001' }))
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Verify' }))
    expect(await screen.findByText('verifying…')).toBeVisible()
    await waitFor(() => expect(host.calls.at(-1)?.request).toMatchObject({ command: 'version_verify', request: { version: 'v001' } }))
    host.tell({ event: 'job_done', job_id: 'j1', response: { session_id: aSession().session_id, version_id: 'v001', identical: false, by: 'text', reasons: ['the original has changed'], difference: { line: 7, stored: 'a', made_again: 'b' } } })
    expect(await screen.findByText('differs')).toHaveAttribute('title', expect.stringContaining('Line 7'))
  })

  it('are cleaned up by a rule that first says what would go and what stays', async () => {
    const { host } = open([aVersion()])
    host.answers.version_prune = ({ dry_run }) => ({ keep: 'used', dry_run, removed: [{ session_id: 's', title: 't', version_id: 'v001', file: 'f', created_at: '2026-01-20T10:00:00.000Z', output_tokens: 10_020, bytes: 40_000, auto_created: true, by_model: true, why: 'nothing uses it' }], kept: [{ session_id: 's', version: 'v002', why: 'used in auth' }], bytes: 40_000 })
    await userEvent.click(await screen.findByTestId('versions-clean-up'))
    expect(await screen.findByTestId('clean-up-list')).toHaveTextContent('nothing uses it')
    expect(screen.getByRole('alert')).toHaveTextContent('making it again costs')
    expect(host.calls.filter((call) => call.command === 'version_prune').every((call) => (call.request as { dry_run: boolean }).dry_run), 'looking deletes nothing').toBe(true)
    await userEvent.click(screen.getByTestId('clean-up-confirm'))
    await waitFor(() => expect(host.calls.some((call) => call.command === 'version_prune' && !(call.request as { dry_run: boolean }).dry_run)).toBe(true))
  })
})
