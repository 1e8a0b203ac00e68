//! Asynchronous work as refs: only the latest call may write.

import { onScopeDispose, ref, shallowRef, watch, type ShallowRef, type WatchSource, type Ref } from 'vue'
import { toEngineError, type EngineError } from '../api/errors'

/** Work under this many milliseconds shows no sign of loading. */
const QUIET_MS = 200

export interface AsyncOptions {
  /** Runs again when one of these changes, and once at the start. */
  watch?: WatchSource | WatchSource[]
  /** Waits this long after a change before running. */
  delay?: number
  /** Drops the last data when a new run starts, for another object's data must not be shown. */
  clear?: boolean
}

export interface AsyncState<T> {
  data: ShallowRef<T | undefined>
  error: ShallowRef<EngineError | undefined>
  pending: Ref<boolean>
  /** Pending for longer than 200 ms: time for a skeleton. */
  slow: Ref<boolean>
  run: () => Promise<void>
}

export function useAsync<T>(work: () => Promise<T> | undefined, options: AsyncOptions = {}): AsyncState<T> {
  const data = shallowRef<T>()
  const error = shallowRef<EngineError>()
  const pending = ref(false)
  const slow = ref(false)
  let latest = 0
  let quiet: ReturnType<typeof setTimeout> | undefined
  let wait: ReturnType<typeof setTimeout> | undefined

  async function run(): Promise<void> {
    const turn = ++latest
    clearTimeout(wait)
    clearTimeout(quiet)
    slow.value = false
    if (options.clear) data.value = undefined
    const promise = work()
    if (promise === undefined) {
      data.value = undefined
      error.value = undefined
      pending.value = false
      return
    }
    pending.value = true
    quiet = setTimeout(() => (slow.value = pending.value), QUIET_MS)
    try {
      const result = await promise
      if (turn !== latest) return
      data.value = result
      error.value = undefined
    } catch (failure) {
      if (turn !== latest) return
      error.value = toEngineError(failure)
    }
    clearTimeout(quiet)
    slow.value = false
    pending.value = false
  }

  if (options.watch !== undefined) {
    watch(options.watch, () => {
      if (options.delay === undefined) void run()
      else {
        clearTimeout(wait)
        wait = setTimeout(() => void run(), options.delay)
      }
    })
    void run()
  }
  onScopeDispose(() => {
    latest++
    clearTimeout(quiet)
    clearTimeout(wait)
  })
  return { data, error, pending, slow, run }
}
