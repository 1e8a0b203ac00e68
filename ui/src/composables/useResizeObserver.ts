//! Hears the size of an element, for what is drawn to it.

import { onScopeDispose, watch, type Ref } from 'vue'

export function useResizeObserver(element: Readonly<Ref<HTMLElement | null>>, resized: (size: DOMRectReadOnly) => void): void {
  const observer = new ResizeObserver((entries) => {
    const last = entries.at(-1)
    if (last !== undefined) resized(last.contentRect)
  })
  watch(element, (now, before) => {
    if (before != null) observer.unobserve(before)
    if (now !== null) observer.observe(now)
  }, { immediate: true, flush: 'post' })
  onScopeDispose(() => observer.disconnect())
}
