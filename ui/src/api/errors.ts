//! The one class in which failures reach the screens, and the one table of their wordings.

import { asSentence, hintWords } from '../utils/hintWords'
import type { ErrorKind } from './generated/ErrorKind'
import type { WireError } from './generated/WireError'

/** A failure of a command: what kind, what failed, what to do. */
export class EngineError extends Error {
  readonly kind: ErrorKind
  readonly hint: string | null

  constructor(wire: WireError) {
    super(wire.message)
    this.name = 'EngineError'
    this.kind = wire.kind
    this.hint = wire.hint ?? null
  }

  get cancelled(): boolean {
    return this.kind === 'cancelled'
  }
}

/** How a kind of failure is headed, and whether trying the same again can help. */
interface Wording {
  title: string
  retry: boolean
}

const WORDINGS: Record<ErrorKind, Wording> = {
  usage: { title: 'This cannot be done as asked', retry: false },
  not_found: { title: 'Not in memory', retry: false },
  conflict: { title: 'Something stands in the way', retry: false },
  over_budget: { title: 'The budget is too small', retry: false },
  cancelled: { title: 'Cancelled', retry: true },
  io: { title: 'The disk refused', retry: true },
  newer_memory: { title: 'This memory was written by a newer Recollect', retry: false },
  internal: { title: 'A defect in Recollect', retry: true },
}

/** A failure in the words of the screens. */
export interface ErrorWords {
  title: string
  message: string
  hint: string | null
  retry: boolean
  kind: ErrorKind
}

export function wordsOf(failure: unknown): ErrorWords {
  const error = toEngineError(failure)
  const wording = WORDINGS[error.kind]
  return { ...wording, kind: error.kind, message: asSentence(error.message), hint: error.hint === null ? null : hintWords(error.hint) }
}

/** Whatever was thrown, as an `EngineError`. */
export function toEngineError(failure: unknown): EngineError {
  if (failure instanceof EngineError) return failure
  if (isWireError(failure)) return new EngineError(failure)
  const message = failure instanceof Error ? failure.message : String(failure)
  return new EngineError({ kind: 'internal', message })
}

function isWireError(value: unknown): value is WireError {
  return typeof value === 'object' && value !== null && 'kind' in value && 'message' in value && typeof value.kind === 'string' && value.kind in WORDINGS
}
