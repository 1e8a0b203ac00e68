//! Goes from a hit to its message, or takes its session into the composition.

import { useRoute, useRouter } from 'vue-router'
import type { SearchHit } from '../api/generated/SearchHit'
import { sessionTab } from '../state/browser'
import { soughtMessage } from '../state/search'
import { numberOf } from '../utils/searchHits'

export interface OpenHit {
  openHit: (hit: SearchHit) => void
  composeHit: (hit: SearchHit) => void
}

export function useOpenHit(): OpenHit {
  const route = useRoute()
  const router = useRouter()

  function openHit(hit: SearchHit): void {
    const number = numberOf(hit)
    sessionTab.value = 'messages'
    soughtMessage.value = number === undefined ? undefined : { session: hit.session_id, index: number - 1 }
    const params = { sessionId: hit.session_id }
    const within = route.params['projectId'] === hit.project_id
    void router.push(within ? { name: 'project-session', params: { ...params, projectId: hit.project_id } } : { name: 'session', params })
  }
  function composeHit(hit: SearchHit): void {
    void router.push({ name: 'compositions', query: { add: hit.session_id } })
  }
  return { openHit, composeHit }
}
