//! What dropping here would do: an estimate at once, the engine's own answer when the pointer rests.

import { computed, type ComputedRef, type Ref } from 'vue'
import type { CompositionPreview } from '../api/generated/CompositionPreview'
import type { SessionSummary } from '../api/generated/SessionSummary'
import { draft } from '../state/compositionDraft'
import { afterStep, requestOf } from '../utils/compositionDraft'
import { parseTokens } from '../utils/tokens'
import { useCompositionPreview } from './useCompositionPreview'
import type { TimelineDrag } from './useTimelineDrag'

export interface Ghost {
  at: number
  tokens: number
  total: number
  /** The engine said it. */
  exact: boolean
  /** What the cards would take, when the engine said it: the shares of the others shrink. */
  preview: CompositionPreview | undefined
}

export function useGhost(drag: Ref<TimelineDrag | undefined>, known: Ref<ReadonlyMap<string, SessionSummary>>, preview: Ref<CompositionPreview | undefined>, name: Ref<string>): ComputedRef<Ghost | undefined> {
  const fresh = computed(() => {
    const now = drag.value
    if (now?.at === undefined || now.card !== undefined) return undefined
    const ids = now.data.sessionIds.filter((id) => !draft.value.cards.some((card) => card.sessionId === id))
    return ids.length === 0 ? undefined : { at: now.at, ids, data: now.data }
  })
  const request = computed(() => {
    if (fresh.value === undefined) return undefined
    const sessions = fresh.value.ids.map((id) => ({ sessionId: id, title: '', tokens: known.value.get(id)?.tokens ?? 0, lastTimestamp: null }))
    return requestOf(afterStep(draft.value, { step: 'add', sessions, at: fresh.value.at }), { name: name.value, replace: true })
  })
  const answer = useCompositionPreview(request, 250)

  return computed(() => {
    const budget = parseTokens(draft.value.budget)
    if (fresh.value === undefined || budget === undefined) return undefined
    const { at, ids, data } = fresh.value
    const exact = answer.preview.value
    // Only an answer to what is dragged now counts.
    if (exact !== undefined && answer.answered.value === request.value) {
      const tokens = exact.components.filter((component) => ids.includes(component.session_id)).reduce((sum, component) => sum + component.token_contribution, 0)
      return { at, tokens, total: exact.total_tokens, exact: true, preview: exact }
    }
    const share = Math.floor((budget / (draft.value.cards.length + ids.length)) * ids.length)
    const tokens = Math.min(data.tokens, share)
    return { at, tokens, total: (preview.value?.total_tokens ?? 0) + tokens, exact: false, preview: undefined }
  })
}
