//! What is kept, in its three parts: stored, saved by packing, repeated; and months without gaps.

import type { MonthStorage } from '../api/generated/MonthStorage'
import type { StorageShare } from '../api/generated/StorageShare'
import { bytes, counted, percent } from './format'

/** The parts that original bytes fall into; they add up to `original`. */
export interface KeptParts {
  original: number
  stored: number
  packed: number
  repeated: number
}

/** Tiny sessions can take more in a pack than they are long: then nothing was saved by packing. */
export function keptParts(share: StorageShare): KeptParts {
  const repeated = Math.max(0, share.original_bytes - share.unique_bytes)
  const stored = Math.min(share.stored_bytes, share.original_bytes - repeated)
  return { original: share.original_bytes, stored, packed: share.original_bytes - repeated - stored, repeated }
}

/** Stored bytes of original ones, for a table. */
export function storedShare(share: StorageShare): string {
  return share.original_bytes === 0 ? '–' : percent(share.stored_bytes / share.original_bytes)
}

/** A month of the chart; without a name for sessions that have no time. */
export interface ChartMonth extends KeptParts {
  key: string
  /** First day, at noon in UTC; none for sessions without a time. */
  at: string | undefined
  sessions: number
}

const NONE: StorageShare = { sessions: 0, messages: 0, original_bytes: 0, unique_bytes: 0, stored_bytes: 0 }

/** The latest months, at most `most`, those without sessions among them; what is older is one bar at the left. */
export function chartMonths(months: readonly MonthStorage[], most: number): ChartMonth[] {
  const dated = months.flatMap((each) => (each.month == null ? [] : [{ ...each, month: each.month }])).sort((a, b) => a.month.localeCompare(b.month))
  const undated = months.filter((each) => each.month == null)
  const first = dated[0]
  const last = dated.at(-1)
  const room = most - undated.length
  const bars: ChartMonth[] = []
  if (first !== undefined && last !== undefined) {
    const all = monthsBetween(first.month, last.month)
    const shown = all.length > room ? all.slice(all.length - room + 1) : all
    const from = shown[0] ?? first.month
    const older = dated.filter((each) => each.month < from)
    if (older.length > 0) bars.push(barOf('older', undefined, older.reduce(sum, NONE)))
    for (const month of shown) bars.push(barOf(month, `${month}-01T12:00:00.000Z`, dated.find((each) => each.month === month) ?? NONE))
  }
  if (undated.length > 0) bars.push(barOf('undated', undefined, undated.reduce(sum, NONE)))
  return bars
}

function barOf(key: string, at: string | undefined, share: StorageShare): ChartMonth {
  return { key, at, sessions: share.sessions, ...keptParts(share) }
}

function sum(a: StorageShare, b: StorageShare): StorageShare {
  return {
    sessions: a.sessions + b.sessions,
    messages: a.messages + b.messages,
    original_bytes: a.original_bytes + b.original_bytes,
    unique_bytes: a.unique_bytes + b.unique_bytes,
    stored_bytes: a.stored_bytes + b.stored_bytes,
  }
}

/** `2025-11`, `2025-12`, `2026-01`: both ends included. */
function monthsBetween(from: string, to: string): string[] {
  const [year = 0, month = 1] = from.split('-').map(Number)
  const found: string[] = []
  for (let step = 0; step < 2400; step++) {
    const at = month - 1 + step
    const name = `${String(year + Math.floor(at / 12)).padStart(4, '0')}-${String((at % 12) + 1).padStart(2, '0')}`
    if (name > to) break
    found.push(name)
  }
  return found
}

/** The unit that a scale up to this many bytes is written in. */
export function unitOf(most: number): { unit: string; size: number } {
  const units = [['B', 1], ['kB', 1e3], ['MB', 1e6], ['GB', 1e9], ['TB', 1e12]] as const
  const [unit, size] = units.findLast(([, least]) => most >= least) ?? units[0]
  return { unit, size }
}

/** A bar in words. */
export function monthWords(month: ChartMonth, name: string): string {
  return `${name}: ${bytes(month.original)} in ${counted(month.sessions, 'session')}; stored ${bytes(month.stored)}, saved by packing ${bytes(month.packed)}, repeated ${bytes(month.repeated)}`
}
