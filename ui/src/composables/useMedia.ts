//! Whether the window is as a media query asks, followed while it changes.

import { onScopeDispose, ref, type Ref } from 'vue'

export function useMedia(query: string): Ref<boolean> {
  const media = window.matchMedia(query)
  const matches = ref(media.matches)
  const changed = (event: MediaQueryListEvent): void => void (matches.value = event.matches)
  media.addEventListener('change', changed)
  onScopeDispose(() => media.removeEventListener('change', changed))
  return matches
}
