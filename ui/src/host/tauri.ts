//! The desktop window as host.

import { invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'
import type { Event } from '../api/generated/Event'
import type { FileDrop, Host, ShellOutcome } from './types'

export const tauriHost: Host = {
  rpc: (command, request) => invoke('rpc', { command, request }),
  shell: (request) => invoke<ShellOutcome>('shell', { request }),
  onEngineEvent: (listener) => listen<Event>('engine', (event) => listener(event.payload)),
  onFileDrop: (listener) => listen<FileDrop>('drop', (event) => listener(event.payload)),
  onOpenPaths: (listener) => listen<string[]>('open_paths', (event) => listener(event.payload)),
}
