import userEvent from '@testing-library/user-event'
import { screen, waitFor } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import { toast } from '../../state/toasts'
import { aComposition, aPreview } from '../../testing/builders'
import { renderFloating } from '../../testing/floating'
import { useTestHost } from '../../testing/host'
import RefreshDialog from './RefreshDialog.vue'

const grown = { session_id: 's1', title: 'Fix token refresh race', new_messages: 312, new_tokens: 41_000 }

describe('refreshing a composition', () => {
  it('shows what is new and what it would become before it does anything', async () => {
    const host = useTestHost({ composition_refresh: () => ({ grown: [grown], preview: aPreview({ total_tokens: 15_400, total_messages: 40 }), composition: null }), job_start: () => ({ job_id: 'j1' }) })
    renderFloating(RefreshDialog, { open: true, composition: aComposition({ stale: [grown] }) }, ['update:open'])
    expect(await screen.findByTestId('refresh-grown')).toHaveTextContent('Fix token refresh race31241,000')
    expect(await screen.findByText('15,400')).toBeVisible()
    expect(host.calls.map((call) => call.request), 'a dry run alone').toEqual([{ name: 'feature-x-context', dry_run: true }])
    await userEvent.click(screen.getByTestId('refresh-go'))
    await waitFor(() => expect(host.calls.at(-1)?.request).toEqual({ command: 'composition_refresh', request: { name: 'feature-x-context', dry_run: false } }))
    host.tell({ event: 'job_done', job_id: 'j1', response: { grown: [grown], preview: null, composition: aComposition({ total_tokens: 15_400 }) } })
    await waitFor(() => expect(toast.value?.title).toBe('feature-x-context is up to date'))
  })

  it('keeps the composition and says so when it fails', async () => {
    useTestHost({ composition_refresh: () => { throw { kind: 'over_budget', message: 'the keepits need 20,000 tokens' } as unknown as Error } })
    renderFloating(RefreshDialog, { open: true, composition: aComposition({ stale: [grown] }) })
    expect(await screen.findByText('The composition as it was')).toBeVisible()
    expect(screen.getByTestId('refresh-go')).toBeDisabled()
  })
})
