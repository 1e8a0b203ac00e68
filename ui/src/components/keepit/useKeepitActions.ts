//! What can be done to a marker, with the way back where there is one.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { call } from '../../api/call'
import { toEngineError, type EngineError } from '../../api/errors'
import type { KeepitMarker } from '../../api/generated/KeepitMarker'
import { showToast } from '../../state/toasts'
import { weight as weightText } from '../../utils/format'
import type { Passage } from './target'

export interface KeepitActions {
  busy: Ref<boolean>
  error: ShallowRef<EngineError | undefined>
  /** Each is true when it was done; `error` tells why it was not. */
  setWeight: (marker: KeepitMarker, weight: number) => Promise<boolean>
  add: (passage: Passage, weight: number) => Promise<boolean>
  remove: (marker: KeepitMarker) => Promise<boolean>
}

export function useKeepitActions(session: string, changed: (marker: KeepitMarker) => void): KeepitActions {
  const busy = ref(false)
  const error = shallowRef<EngineError>()

  async function attempt(work: () => Promise<KeepitMarker>, done: (marker: KeepitMarker) => void): Promise<boolean> {
    if (busy.value) return false
    busy.value = true
    error.value = undefined
    try {
      const marker = await work()
      changed(marker)
      done(marker)
      return true
    } catch (failure) {
      error.value = toEngineError(failure)
      return false
    } finally {
      busy.value = false
    }
  }

  /** Puts things back from a toast, when the editor is long gone: a failure is said there too. */
  function undo(work: () => Promise<KeepitMarker>, title: string): () => void {
    return () => {
      work().then(
        (marker) => {
          changed(marker)
          showToast({ title })
        },
        (failure: unknown) => showToast({ title: 'Could not be undone', text: toEngineError(failure).message, tone: 'warn' }),
      )
    }
  }

  const setWeight: KeepitActions['setWeight'] = (marker, weight) => {
    const before = marker.weight
    return attempt(
      () => call('keepit_set', { marker: marker.marker_id, weight, write_transcript: false }),
      (saved) =>
        showToast({
          title: `Weight ${weightText(saved.weight)} saved`,
          text: 'New compressions use it. The transcript stays as it is.',
          tone: 'ok',
          action: { label: 'Undo', run: undo(() => call('keepit_set', { marker: marker.marker_id, weight: before, write_transcript: false }), `Weight ${weightText(before)} again`) },
        }),
    )
  }

  const add: KeepitActions['add'] = (passage, weight) =>
    attempt(
      () => call('keepit_add', { session, message: passage.message.uuid, start: passage.start, end: passage.end, weight }),
      (added) =>
        showToast({
          title: `Kept with weight ${weightText(added.weight)}`,
          tone: 'ok',
          action: { label: 'Undo', run: undo(() => call('keepit_remove', { marker: added.marker_id }), 'No longer kept') },
        }),
    )

  const remove: KeepitActions['remove'] = (marker) =>
    attempt(
      () => call('keepit_remove', { marker: marker.marker_id }),
      () =>
        showToast({
          title: 'Keepit removed',
          text: marker.source === 'text' ? 'Its marker in the transcript is ignored from now on.' : 'The passage is as any other again.',
          action: {
            label: 'Undo',
            run: undo(() => putBack(marker), 'Kept again'),
          },
        }),
    )

  /** A marker in the text counts again once it has a weight; an overlay is made anew. */
  function putBack(marker: KeepitMarker): Promise<KeepitMarker> {
    if (marker.source === 'text') return call('keepit_set', { marker: marker.marker_id, weight: marker.weight, write_transcript: false })
    return call('keepit_add', { session, message: marker.message_uuid, start: marker.start, end: marker.end, weight: marker.weight })
  }

  return { busy, error, setWeight, add, remove }
}
