//! What a menu holds.

import type { Component } from 'vue'

export interface MenuAction {
  label: string
  icon?: Component
  keyHint?: string
  danger?: boolean
  disabled?: boolean
  run: () => void
}

/** An entry of a menu: an action, or a line between groups. */
export type MenuEntry = MenuAction | 'line'
