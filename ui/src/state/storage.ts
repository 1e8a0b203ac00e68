//! What the storage page remembers while the window is open: the last check of the memory.

import { shallowRef } from 'vue'
import type { Health } from '../api/generated/Health'

export interface CheckedHealth {
  health: Health
  /** When it was checked. */
  at: string
}

export const checkedHealth = shallowRef<CheckedHealth>()
