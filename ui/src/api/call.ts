//! The one typed door to the engine and the desktop.

import type { ShellOutcome, ShellRequest } from '../host/types'
import { toEngineError } from './errors'
import type { Commands } from './generated/Commands'
import { host } from './host'

export type CommandName = keyof Commands
export type RequestOf<Name extends CommandName> = Commands[Name][0]
export type ResponseOf<Name extends CommandName> = Commands[Name][1]

/** Runs a command of the engine; rejects with an `EngineError`. */
export async function call<Name extends CommandName>(command: Name, request: RequestOf<Name>): Promise<ResponseOf<Name>> {
  try {
    return (await host().rpc(command, request)) as ResponseOf<Name>
  } catch (failure) {
    throw toEngineError(failure)
  }
}

/** Asks the desktop (choose files, show one, open a terminal); rejects with an `EngineError`. */
export async function shell(request: ShellRequest): Promise<ShellOutcome> {
  try {
    return await host().shell(request)
  } catch (failure) {
    throw toEngineError(failure)
  }
}
