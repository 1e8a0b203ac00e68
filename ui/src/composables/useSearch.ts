//! Searches while something is typed: only the answer to what stands there now is shown, and it is looked for again when
//! the memory changes.

import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from 'vue'
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
  answer: ShallowRef<SearchAnswer | undefined>
  error: ShallowRef<EngineError | undefined>
  /** Time for a skeleton. */
  slow: Ref<boolean>
  empty: ComputedRef<boolean>
  retry: () => void
}

export function useSearch(text: Ref<string>, filters: Ref<SearchFilters>, limit: Ref<number>, active: Ref<boolean>): Search {
  const revision = ref(0)
  const empty = computed(() => isEmpty(text.value, filters.value))
  const state = useAsync(() => (active.value && !empty.value ? call('search_query', requestOf(text.value, filters.value, limit.value)) : undefined), {
    watch: [text, filters, limit, active, revision],
    delay: DELAY_MS,
  })
  for (const name of ['sessions_changed', 'index_changed'] as const) useEngineEvent(name, () => (revision.value += 1))
  return { answer: state.data, error: state.error, slow: state.slow, empty, retry: () => void state.run() }
}
