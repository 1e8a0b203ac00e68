import { render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { changeDraft, clearDraft } from '../../state/compositionDraft'
import { aComponent, aPreview } from '../../testing/builders'
import { withProviders } from '../../testing/render'
import { EMPTY_DRAFT } from '../../utils/compositionDraft'
import ComposeBudget from './ComposeBudget.vue'

describe('the budget of a composition', () => {
  afterEach(() => clearDraft())
  const preview = aPreview({ budget: 16_000, total_tokens: 7500, components: [aComponent({ token_contribution: 7500 })] })

  function show(stale: boolean): HTMLElement {
    changeDraft({ step: 'replace', draft: { ...EMPTY_DRAFT, budget: '1,000' } })
    changeDraft({ step: 'add', sessions: [{ sessionId: aComponent().session_id, title: 'A', tokens: 100_000, lastTimestamp: null }] })
    render(withProviders(ComposeBudget, { preview, stale, refused: false, ghost: undefined }))
    return screen.getByTestId('budget-bar')
  }

  it('is not said to be exceeded before the engine has answered to the new one', () => {
    const bar = show(true)
    expect(screen.queryByText(/over budget/)).toBeNull()
    expect(screen.getByText(/8,500 free/)).toBeInTheDocument()
    expect(bar).toHaveAccessibleName(/7,500 used, 8,500 free/)
  })

  it('is said to be exceeded once it has', () => {
    show(false)
    expect(screen.getByText(/6,500 over budget/)).toBeInTheDocument()
  })
})
