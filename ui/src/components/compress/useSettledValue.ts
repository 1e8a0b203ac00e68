//! A value that is shown only once it has lasted: nothing flashes for work that is done at once.

import { onScopeDispose, ref, watch, type Ref, type WatchSource } from 'vue'

export function useSettledValue(source: WatchSource<boolean>, wait: number): Ref<boolean> {
  const settled = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  watch(
    source,
    (next) => {
      clearTimeout(timer)
      if (next) timer = setTimeout(() => (settled.value = true), wait)
      else settled.value = false
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  return settled
}
