//! The keepits of several sessions, read once each and again when sessions change.

import { shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { call } from '../api/call'
import type { KeepitMarker } from '../api/generated/KeepitMarker'
import { sessionsRevision } from '../state/memory'

export function useKeepitsOf(sessionIds: Ref<readonly string[]>): ShallowRef<ReadonlyMap<string, readonly KeepitMarker[]>> {
  const keepits = shallowRef<ReadonlyMap<string, readonly KeepitMarker[]>>(new Map())
  let known = new Map<string, Promise<KeepitMarker[]>>()
  let turn = 0

  async function read(): Promise<void> {
    const mine = ++turn
    const entries = await Promise.all(
      sessionIds.value.map(async (session) => {
        const reading = known.get(session) ?? call('keepit_list', { session })
        known.set(session, reading)
        // A session whose keepits cannot be read is shown without amber; the preview says what is wrong with it.
        const markers = await reading.catch(() => {
          known.delete(session)
          return []
        })
        return [session, markers] as const
      }),
    )
    if (mine === turn) keepits.value = new Map(entries)
  }

  watch(() => sessionIds.value.join(' '), () => void read(), { immediate: true })
  watch(sessionsRevision, () => {
    known = new Map()
    void read()
  })
  return keepits
}
