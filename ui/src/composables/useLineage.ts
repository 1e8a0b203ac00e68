//! The lineage of a session, read from its versions and the compositions, and again when they change.

import { computed, type Ref } from 'vue'
import { call } from '../api/call'
import type { SessionSummary } from '../api/generated/SessionSummary'
import { compositionsRevision } from '../state/memory'
import { lineageOf, type Lineage } from '../utils/lineage'
import { useAsync, type AsyncState } from './useAsync'
import { useEngineEvent } from './useEngineEvent'

export function useLineage(session: () => SessionSummary): { lineage: Ref<Lineage | undefined>; state: AsyncState<unknown> } {
  const id = (): string => session().session_id
  const state = useAsync(async () => {
    const of = id()
    const [{ versions }, compositions] = await Promise.all([call('version_list', { session: of }), call('composition_list', {})])
    const started = new Set(compositions.filter((composition) => composition.components.some((component) => component.session_id === of)).flatMap((composition) => composition.used_in_sessions))
    // A session that was started may not be in memory, or not yet.
    const found = await Promise.all([...started].map((each) => call('session_get', { session: each }).then((detail) => detail.summary, () => undefined)))
    return { of, versions, compositions, sessions: new Map(found.flatMap((summary) => (summary === undefined ? [] : [[summary.session_id, summary] as const]))) }
  }, { watch: [id, compositionsRevision] })
  useEngineEvent('sessions_changed', (event) => {
    if (event.session_ids.includes(id())) void state.run()
  })
  const lineage = computed(() => {
    const read = state.data.value
    return read === undefined || read.of !== id() ? undefined : lineageOf({ session: session(), versions: read.versions, compositions: read.compositions, sessions: read.sessions })
  })
  return { lineage, state }
}
