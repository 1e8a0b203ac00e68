//! What config.json says, read once and whenever it changes here; other programs' changes are read with the next.

import { computed, shallowRef } from 'vue'
import { call } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import { onEvent } from '../api/events'
import type { ConfigState } from '../api/generated/ConfigState'

export const config = shallowRef<ConfigState>()
/** Why it cannot be read, when it cannot. */
export const configFailure = shallowRef<EngineError>()

/** The value of a setting that counts; nothing while it is not read. */
export function settingValue(key: string): unknown {
  return config.value?.settings.find((setting) => setting.key === key)?.value
}

/** Whether figures of tokens stand in lists. */
export const showsTokens = computed(() => settingValue('ui.showTokenEstimates') !== false)
/** Whether what cannot be undone is asked about first. */
export const asksFirst = computed(() => settingValue('ui.confirmDestructiveActions') !== false)
/** Whether lists of sessions stand under months. */
export const listsByMonth = computed(() => settingValue('ui.defaultView') !== 'list')

let turn = 0

export async function readConfig(): Promise<void> {
  const mine = ++turn
  try {
    const read = await call('config_get', {})
    if (mine !== turn) return
    config.value = read
    configFailure.value = undefined
  } catch (failure) {
    if (mine === turn) configFailure.value = toEngineError(failure)
  }
}

/** Sets one value, `null` its default; rejects with why it may not be so. */
export async function setSetting(key: string, value: unknown): Promise<void> {
  const written = await call('config_set', { key, value })
  turn++
  config.value = written
  configFailure.value = undefined
}

/** Reads once, then follows for the life of the window. */
export async function followConfig(): Promise<void> {
  await onEvent('config_changed', () => void readConfig())
  await readConfig()
}
