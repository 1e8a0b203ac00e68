//! Gives the keyboard back to where it was, when what floated over the page closes. What opens by a key has no trigger to go back to.

import { watch, type Ref } from 'vue'

export interface ReturnFocus {
  /** For `close-auto-focus`. */
  giveBack: (event: Event) => void
}

export function useReturnFocus(open: Readonly<Ref<boolean>>): ReturnFocus {
  let before: HTMLElement | undefined
  watch(open, (now) => {
    // Before what opens takes the focus.
    if (now && document.activeElement instanceof HTMLElement && document.activeElement !== document.body) before = document.activeElement
  }, { immediate: true, flush: 'sync' })

  function giveBack(event: Event): void {
    // Something else was chosen meanwhile: it keeps the keyboard.
    const active = document.activeElement
    const inFloat = active instanceof HTMLElement && active.closest('.float') !== null
    if (active !== null && active !== document.body && !inFloat) {
      event.preventDefault()
      return
    }
    const target = before?.isConnected === true && before.checkVisibility?.() !== false ? before : document.querySelector<HTMLElement>('main[tabindex]')
    if (target == null) return
    event.preventDefault()
    target.focus()
  }
  return { giveBack }
}
