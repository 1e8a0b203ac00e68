//! The messages of a session by windows: only what is near the screen is read and kept.

import { onScopeDispose, ref, shallowRef, triggerRef, watch, type Ref, type ShallowRef } from 'vue'
import { call } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import type { MessageView } from '../api/generated/MessageView'
import { useEngineEvent } from './useEngineEvent'

const WINDOW = 80
/** Characters of one text that the window takes; the archive has all of it. */
export const LONGEST = 400_000
/** Windows that are kept; beyond, those farthest from the screen are let go. */
const MOST_WINDOWS = 24

export interface Messages {
  total: Ref<number | undefined>
  error: ShallowRef<EngineError | undefined>
  /** Loaded windows; replaced or triggered when one arrives. */
  windows: ShallowRef<Map<number, MessageView[]>>
  at: (index: number) => MessageView | undefined
  /** Reads what is missing between two indexes. */
  ensure: (first: number, last: number) => Promise<void>
  /** Reads all of a message of which only the beginning was taken; it stays whole while the session is shown. */
  showWhole: (index: number) => Promise<void>
  retry: () => void
}

export function useMessages(source: () => { session: string; agent?: string | undefined } | undefined): Messages {
  const total = ref<number>()
  const error = shallowRef<EngineError>()
  const windows = shallowRef(new Map<number, MessageView[]>())
  let reading = new Map<number, Promise<void>>()
  let generation = 0
  let wanted = { first: 0, last: 0 }
  const whole = new Set<number>()

  async function read(window: number): Promise<void> {
    const of = source()
    if (of === undefined) return
    const mine = generation
    try {
      const page = await call('message_list', { session: of.session, agent: of.agent ?? null, offset: window * WINDOW, limit: WINDOW, longest: LONGEST })
      if (mine !== generation) return
      windows.value.set(window, page.messages)
      total.value = page.total
      error.value = undefined
      forgetFar()
      triggerRef(windows)
      for (const index of whole) if (Math.floor(index / WINDOW) === window) void showWhole(index)
    } catch (failure) {
      if (mine === generation) error.value = toEngineError(failure)
    } finally {
      if (mine === generation) reading.delete(window)
    }
  }

  async function showWhole(index: number): Promise<void> {
    const of = source()
    if (of === undefined) return
    whole.add(index)
    const mine = generation
    const page = await call('message_list', { session: of.session, agent: of.agent ?? null, offset: index, limit: 1 })
    const window = windows.value.get(Math.floor(index / WINDOW))
    const [message] = page.messages
    if (mine !== generation || window === undefined || message === undefined) return
    windows.value.set(Math.floor(index / WINDOW), window.map((each) => (each.index === message.index ? message : each)))
    triggerRef(windows)
  }

  function forgetFar(): void {
    const middle = (wanted.first + wanted.last) / 2 / WINDOW
    const far = [...windows.value.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle))
    for (const window of far.slice(0, Math.max(0, far.length - MOST_WINDOWS))) windows.value.delete(window)
  }

  async function ensure(first: number, last: number): Promise<void> {
    const top = total.value === undefined ? last : Math.min(last, total.value - 1)
    wanted = { first: Math.max(0, first), last: top }
    const missing: Promise<void>[] = []
    for (let window = Math.floor(wanted.first / WINDOW); window <= Math.floor(Math.max(0, top) / WINDOW); window++) {
      if (windows.value.has(window)) continue
      const promise = reading.get(window) ?? read(window)
      reading.set(window, promise)
      missing.push(promise)
    }
    await Promise.all(missing)
  }

  function restart(): void {
    generation += 1
    whole.clear()
    reading = new Map()
    windows.value = new Map()
    total.value = undefined
    error.value = undefined
    if (source() !== undefined) void ensure(0, WINDOW - 1)
  }

  /** A session that is still being written grows at its end; marks may change anywhere on screen. */
  function refresh(): void {
    generation += 1
    reading = new Map()
    const near = new Set<number>()
    for (let window = Math.floor(wanted.first / WINDOW); window <= Math.floor(Math.max(0, wanted.last) / WINDOW) + 1; window++) near.add(window)
    for (const window of [...windows.value.keys()]) if (!near.has(window)) windows.value.delete(window)
    for (const window of near) {
      if (total.value !== undefined && window * WINDOW > total.value) continue
      reading.set(window, read(window))
    }
  }

  watch(() => JSON.stringify(source() ?? null), restart, { immediate: true })
  useEngineEvent('sessions_changed', (event) => {
    const of = source()
    if (of !== undefined && event.session_ids.includes(of.session)) refresh()
  })
  onScopeDispose(() => {
    generation += 1
  })

  return {
    total,
    error,
    windows,
    at: (index) => windows.value.get(Math.floor(index / WINDOW))?.[index % WINDOW],
    ensure,
    showWhole,
    retry: restart,
  }
}
