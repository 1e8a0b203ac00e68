//! What a host of this interface offers; the window is one. Only `api/` imports this folder.

import type { Event } from '../api/generated/Event'

/** Files of the desktop over the window; positions are CSS pixels of the page. */
export type FileDrop =
  | { phase: 'enter'; paths: string[]; x: number; y: number }
  | { phase: 'over'; x: number; y: number }
  | { phase: 'drop'; paths: string[]; x: number; y: number }
  | { phase: 'leave' }

/** What the page asks of the desktop rather than of the engine. */
export type ShellRequest =
  | { action: 'opened_paths' }
  | { action: 'pick_paths'; folder: boolean }
  | { action: 'pick_save_path'; name: string }
  | { action: 'reveal'; path: string }
  | { action: 'open_link'; url: string }
  | { action: 'continue_in_terminal'; session_id: string; cwd: string }
  | { action: 'quit' }

/** What came of it. */
export interface ShellOutcome {
  paths: string[]
}

export type Unlisten = () => void

export interface Host {
  /** Runs a command of the engine; rejects with a `WireError`. */
  rpc(command: string, request: unknown): Promise<unknown>
  /** Asks the desktop; rejects with a `WireError`. */
  shell(request: ShellRequest): Promise<ShellOutcome>
  onEngineEvent(listener: (event: Event) => void): Promise<Unlisten>
  onFileDrop(listener: (drop: FileDrop) => void): Promise<Unlisten>
  onOpenPaths(listener: (paths: string[]) => void): Promise<Unlisten>
}
