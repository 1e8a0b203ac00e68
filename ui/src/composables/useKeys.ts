//! Keys of a screen. Keys without a modifier are left alone while something is typed or a dialog is open.

import { onScopeDispose } from 'vue'

/** An action that returns false leaves the key to others. */
export type KeyMap = Record<string, (event: KeyboardEvent) => unknown>

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** How the main modifier is written on this system: `⌘K`, `Ctrl K`. */
export function modKey(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl ${key}`
}

/** Names of keys: `a`, `/`, `?`, `Escape`, `mod+k`, `mod+Enter`. */
export function useKeys(keys: KeyMap): void {
  function pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return
    const mod = isMac ? event.metaKey : event.ctrlKey
    const name = event.key.length === 1 && event.key !== '?' ? event.key.toLowerCase() : event.key
    const action = keys[mod ? `mod+${name}` : name]
    if (action === undefined || event.altKey) return
    if (!mod && (isTyping(event.target) || document.querySelector('[role="dialog"][data-state="open"], [role="menu"][data-state="open"]') !== null)) return
    if (action(event) !== false) event.preventDefault()
  }
  window.addEventListener('keydown', pressed)
  onScopeDispose(() => window.removeEventListener('keydown', pressed))
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select, [role="textbox"]'))
}
