//! What the engine and the desktop tell: one subscription to the host, shared by all listeners.

import type { FileDrop, Unlisten } from '../host/types'
import type { Event } from './generated/Event'
import { host } from './host'

export type { FileDrop, Unlisten }
export type EventName = Event['event']
export type EventOf<Name extends EventName> = Extract<Event, { event: Name }>

type Listener = (event: Event) => void

const listeners = new Set<Listener>()
let subscription: Promise<Unlisten> | undefined

/** Hears every event of the engine from the time its promise is fulfilled. */
export async function onAnyEvent(listener: Listener): Promise<Unlisten> {
  listeners.add(listener)
  subscription ??= host().onEngineEvent((event) => {
    for (const each of [...listeners]) each(event)
  })
  await subscription
  return () => listeners.delete(listener)
}

/** Hears the events of one name. */
export function onEvent<Name extends EventName>(name: Name, listener: (event: EventOf<Name>) => void): Promise<Unlisten> {
  return onAnyEvent((event) => {
    if (event.event === name) listener(event as EventOf<Name>)
  })
}

/** Hears files of the desktop over the window. */
export function onFileDrop(listener: (drop: FileDrop) => void): Promise<Unlisten> {
  return host().onFileDrop(listener)
}

/** Hears files that the desktop asks to open: those that the program was started with, and later ones. */
export async function onOpenPaths(listener: (paths: string[]) => void): Promise<Unlisten> {
  const unlisten = await host().onOpenPaths(listener)
  const { paths } = await host().shell({ action: 'opened_paths' })
  if (paths.length > 0) listener(paths)
  return unlisten
}

/** Forgets the subscription, so that a test can put another host in place. */
export function resetEvents(): void {
  listeners.clear()
  subscription = undefined
}
