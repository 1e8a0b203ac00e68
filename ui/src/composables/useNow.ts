//! The time, for texts such as “2 min ago”: counts on twice a minute, and not while nobody can see it.

import { onScopeDispose, ref, type Ref } from 'vue'

const STEP_MS = 30_000

export function useNow(): Ref<Date> {
  const now = ref(new Date())
  const step = (): void => {
    if (document.visibilityState === 'visible') now.value = new Date()
  }
  const timer = setInterval(step, STEP_MS)
  document.addEventListener('visibilitychange', step)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', step)
  })
  return now
}
