//! One short word at a time, at the bottom right. Errors are never toasts alone.

import { shallowRef } from 'vue'

export interface Toast {
  id: number
  title: string
  text?: string
  tone?: 'ok' | 'warn'
  action?: { label: string; run: () => void }
}

export const toast = shallowRef<Toast>()
let last = 0

export function showToast(next: Omit<Toast, 'id'>): void {
  last += 1
  toast.value = { ...next, id: last }
}

export function dismissToast(): void {
  toast.value = undefined
}
