//! The host in use. Tests put their own in its place.

import { tauriHost } from '../host/tauri'
import type { Host } from '../host/types'

let current: Host = tauriHost

export function host(): Host {
  return current
}

export function useHost(next: Host): void {
  current = next
}
