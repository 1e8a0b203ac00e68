import userEvent from '@testing-library/user-event'
import { render, screen, waitFor } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { changeDraft, clearDraft } from '../../state/compositionDraft'
import { aSuggestion } from '../../testing/builders'
import { useTestHost } from '../../testing/host'
import SuggestList from './SuggestList.vue'

const second = aSuggestion({ session_id: 's2', title: 'Rotate signing keys', score: 0.4, reasons: ['touched src/auth.ts'] })

describe('suggested sessions', () => {
  afterEach(() => clearDraft())

  it('are asked for with the task, the files and the budget, and come with a score and reasons', async () => {
    changeDraft({ step: 'set', values: { task: ' fix the login ', budget: '20k' } })
    const host = useTestHost({ context_suggest: () => ({ suggestions: [aSuggestion(), second], total_tokens: 12_000, budget: 20_000, considered: 42, more: 3 }) })
    render(SuggestList, { props: { folder: '/home/ada/my-app', badges: new Map() } })
    await userEvent.type(screen.getByRole('textbox', { name: /Files/ }), 'src/auth.ts, src/jwt.ts')
    const rows = await screen.findAllByRole('option')
    await waitFor(() => expect(host.calls.at(-1)?.request).toEqual({ folder: '/home/ada/my-app', files: ['src/auth.ts', 'src/jwt.ts'], topics: [], task: 'fix the login', budget: 20_000, limit: 12 }))
    expect(rows[0]).toHaveTextContent('82 %')
    expect(rows[0]).toHaveTextContent('says most about the task')
    expect(screen.getByText(/42 sessions looked at, 3 more fit/)).toBeVisible()
  })

  it('are added by one key', async () => {
    useTestHost({ context_suggest: () => ({ suggestions: [aSuggestion(), second], total_tokens: 1, budget: 1, considered: 2, more: 0 }) })
    const { emitted } = render(SuggestList, { props: { folder: undefined, badges: new Map() } })
    const list = await screen.findByRole('listbox')
    list.focus()
    await userEvent.keyboard('{ArrowDown}{Enter}')
    expect(emitted()['add']).toEqual([[[second]]])
  })

  it('say what to do where there are none, and what failed', async () => {
    const host = useTestHost({ context_suggest: () => ({ suggestions: [], total_tokens: 0, budget: 1, considered: 9, more: 0 }) })
    const { unmount } = render(SuggestList, { props: { folder: undefined, badges: new Map() } })
    expect(await screen.findByText(/Say what the task is/)).toBeVisible()
    unmount()
    host.answers.context_suggest = () => { throw { kind: 'io', message: 'the index is gone' } as unknown as Error }
    render(SuggestList, { props: { folder: undefined, badges: new Map() } })
    expect(await screen.findByText('The index is gone.')).toBeVisible()
  })
})
