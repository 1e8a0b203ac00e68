//! How following Claude Code stands in this program, read once and then as the engine tells.

import { computed, shallowRef } from 'vue'
import { call } from '../api/call'
import { onEvent } from '../api/events'
import type { WatchStatus } from '../api/generated/WatchStatus'

export const watchStatus = shallowRef<WatchStatus>()
export const watchPaused = computed(() => watchStatus.value?.state === 'paused')

/** Reads once, then follows for the life of the window. */
export async function followWatch(): Promise<void> {
  let told = false
  await onEvent('watch_changed', ({ status }) => {
    told = true
    watchStatus.value = status
  })
  const status = await call('watch_get', {})
  if (!told) watchStatus.value = status
}

/** Pauses, or goes on, until the program ends. */
export async function pauseWatching(paused: boolean): Promise<void> {
  watchStatus.value = await call('watch_set', { paused })
}
