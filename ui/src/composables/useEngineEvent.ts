//! Listens to events of the engine for as long as the component lives.

import { onScopeDispose } from 'vue'
import { onEvent, type EventName, type EventOf } from '../api/events'

export function useEngineEvent<Name extends EventName>(name: Name, listener: (event: EventOf<Name>) => void): void {
  let gone = false
  let unlisten: (() => void) | undefined
  void onEvent(name, (event) => {
    if (!gone) listener(event)
  }).then((stop) => {
    if (gone) stop()
    else unlisten = stop
  })
  onScopeDispose(() => {
    gone = true
    unlisten?.()
  })
}
