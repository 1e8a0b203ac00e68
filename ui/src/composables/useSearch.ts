//! Searches while something is typed: only the answer to what stands there now is shown, and it is looked for again when
//! the memory changes.

import { computed, ref, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { call } from '../api/call'
import type { EngineError } from '../api/errors'
import type { SearchAnswer } from '../api/generated/SearchAnswer'
import type { SearchFilters } from '../utils/searchFilters'
import { isEmpty, requestOf } from '../utils/searchFilters'
import { useAsync } from './useAsync'
import { useEngineEvent } from './useEngineEvent'

/** Less than the time between two keys, so that each pause is used. */
const DELAY_MS = 40

export interface Search {
  /** The last answer; none while there is nothing to look for. */
  answer: ComputedRef<SearchAnswer | undefined>
  error: ShallowRef<EngineError | undefined>
  /** Time for a skeleton. */
  slow: Ref<boolean>
  empty: ComputedRef<boolean>
  /** Runs work when the answer is to what stands there now; at once when it is. */
  whenAnswered: (work: () => void) => void
  retry: () => void
}

export function useSearch(text: Ref<string>, filters: Ref<SearchFilters>, limit: Ref<number>, active: Ref<boolean>): Search {
  const revision = ref(0)
  const empty = computed(() => isEmpty(text.value, filters.value))
  const request = computed(() => requestOf(text.value, filters.value, limit.value))
  const question = computed(() => JSON.stringify(request.value))
  const state = useAsync(() => (active.value && !empty.value ? ask() : undefined), {
    watch: [text, filters, limit, active, revision],
    delay: DELAY_MS,
  })
  async function ask(): Promise<{ question: string; answer: SearchAnswer }> {
    const asked = question.value
    return { question: asked, answer: await call('search_query', request.value) }
  }
  const isAnswered = computed(() => empty.value || !active.value || state.error.value !== undefined || state.data.value?.question === question.value)
  function whenAnswered(work: () => void): void {
    if (isAnswered.value) work()
    else watch(isAnswered, () => { if (active.value) work() }, { once: true, flush: 'post' })
  }
  for (const name of ['sessions_changed', 'index_changed'] as const) useEngineEvent(name, () => (revision.value += 1))
  return { answer: computed(() => state.data.value?.answer), error: state.error, slow: state.slow, empty, whenAnswered, retry: () => void state.run() }
}
