//! What is known of a session on the timeline beside the preview: its versions, and whether it is still in memory.

import { computed, type Ref } from 'vue'
import { call } from '../api/call'
import type { SessionSummary } from '../api/generated/SessionSummary'
import type { Version } from '../api/generated/Version'
import { compositionsRevision, sessionsRevision } from '../state/memory'
import { useAsync } from './useAsync'

export interface CardFacts {
  summary: Ref<SessionSummary | undefined>
  versions: Ref<readonly Version[]>
  /** It left the memory since it was put on the timeline. */
  gone: Ref<boolean>
}

export function useCardFacts(sessionId: () => string): CardFacts {
  const watched = { watch: [sessionId, sessionsRevision, compositionsRevision] }
  const detail = useAsync(() => call('session_get', { session: sessionId() }), watched)
  const list = useAsync(() => call('version_list', { session: sessionId() }), watched)
  return {
    summary: computed(() => detail.data.value?.summary),
    versions: computed(() => list.data.value?.versions ?? []),
    gone: computed(() => detail.error.value?.kind === 'not_found'),
  }
}
