//! The messages of a version, read by pages as they come near the screen.

import { ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { call } from '../../api/call'
import { toEngineError, type EngineError } from '../../api/errors'
import type { LeftOut } from '../../api/generated/LeftOut'
import type { VersionMessage } from '../../api/generated/VersionMessage'

const PAGE = 100

export interface VersionMessages {
  messages: ShallowRef<readonly VersionMessage[]>
  total: Ref<number | undefined>
  leftOut: ShallowRef<readonly LeftOut[]>
  error: ShallowRef<EngineError | undefined>
  /** Reads on when the last that is shown is near the last that was read. */
  reach: (last: number) => Promise<void>
  retry: () => Promise<void>
}

export function useVersionMessages(of: () => { session: string; version: string }): VersionMessages {
  const messages = shallowRef<readonly VersionMessage[]>([])
  const total = ref<number>()
  const leftOut = shallowRef<readonly LeftOut[]>([])
  const error = shallowRef<EngineError>()
  let turn = 0
  let reading = false

  async function more(): Promise<void> {
    if (reading || (total.value !== undefined && messages.value.length >= total.value)) return
    const mine = turn
    reading = true
    try {
      const page = await call('version_messages', { ...of(), offset: messages.value.length, limit: PAGE })
      if (mine !== turn) return
      messages.value = [...messages.value, ...page.messages]
      total.value = page.messages.length === 0 ? messages.value.length : page.total
      leftOut.value = page.left_out
      error.value = undefined
    } catch (failure) {
      if (mine === turn) error.value = toEngineError(failure)
    } finally {
      if (mine === turn) reading = false
    }
  }
  async function restart(): Promise<void> {
    turn += 1
    reading = false
    messages.value = []
    total.value = undefined
    leftOut.value = []
    error.value = undefined
    await more()
  }
  watch(() => JSON.stringify(of()), () => void restart(), { immediate: true })
  return { messages, total, leftOut, error, reach: async (last) => (last > messages.value.length - PAGE / 2 ? more() : undefined), retry: more }
}
