//! What a host of this interface offers; the window is one. Only `api/` imports this folder.

import type { Event } from '../api/generated/Event'
import type { FileDrop } from './generated/FileDrop'
import type { ShellOutcome } from './generated/ShellOutcome'
import type { ShellRequest } from './generated/ShellRequest'

export type { FileDrop, ShellOutcome, ShellRequest }

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
