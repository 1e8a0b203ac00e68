//! Tiers of a compression: the ready sets, and what dragging, splitting and joining make of them.

import type { TierConfig } from '../../api/generated/TierConfig'
import type { TierPreset } from '../../api/generated/TierPreset'

export type ReadyPreset = Exclude<TierPreset, 'custom'>
export const MOST_TIERS = 6
/** No tier is narrower than this, in percent of the messages. */
const NARROWEST = 2

function tier(end_percent: number, compaction_ratio: number, aggressiveness: TierConfig['aggressiveness']): TierConfig {
  return { end_percent, compaction_ratio, aggressiveness: aggressiveness ?? null }
}

/** What the engine's ready sets are, to start one's own from. */
export const READY_TIERS: Record<ReadyPreset, readonly TierConfig[]> = {
  gentle: [tier(25, 10, 'moderate'), tier(50, 7, 'moderate'), tier(75, 5, 'light'), tier(90, 4, 'light'), tier(100, 2, 'light')],
  standard: [tier(25, 25, 'aggressive'), tier(50, 15, 'aggressive'), tier(75, 10, 'moderate'), tier(90, 5, 'moderate'), tier(100, 3, 'light')],
  aggressive: [tier(25, 50, 'aggressive'), tier(50, 35, 'aggressive'), tier(75, 20, 'aggressive'), tier(90, 10, 'moderate'), tier(100, 5, 'light')],
}

/** Where tiers meet, in percent. */
export function bordersOf(tiers: readonly TierConfig[]): number[] {
  return tiers.slice(0, -1).map((each) => each.end_percent)
}

/** Moves the borders; each stays between its neighbours. */
export function withBorders(tiers: readonly TierConfig[], borders: readonly number[]): TierConfig[] {
  let before = 0
  return tiers.map((each, index) => {
    if (index === tiers.length - 1) return { ...each, end_percent: 100 }
    const after = 100 - NARROWEST * (tiers.length - 1 - index)
    const wanted = borders[index] ?? each.end_percent
    // A border that was not moved stays where it was typed.
    before = Math.min(after, Math.max(before + NARROWEST, wanted === each.end_percent ? wanted : Math.round(wanted)))
    return { ...each, end_percent: before }
  })
}

/** Ends a tier with a message, counted from 1; it stays between its neighbours, each with a message at least. */
export function withLastMessage(tiers: readonly TierConfig[], index: number, last: number, messages: number): TierConfig[] {
  if (index >= tiers.length - 1 || messages < tiers.length) return [...tiers]
  const first = index === 0 ? 1 : lastMessage(tiers[index - 1], messages) + 1
  const next = index + 2 === tiers.length ? messages : lastMessage(tiers[index + 1], messages)
  const end = Math.min(next - 1, Math.max(first, last))
  return tiers.map((each, at) => (at === index ? { ...each, end_percent: (end / messages) * 100 } : each))
}

/** The last message of a tier, counted from 1, as the engine rounds it. */
export function lastMessage(one: TierConfig | undefined, messages: number): number {
  return Math.round(((one?.end_percent ?? 0) / 100) * messages)
}

/** Another ratio for one tier; its level follows the ratio from then on. */
export function withRatio(tiers: readonly TierConfig[], index: number, ratio: number): TierConfig[] {
  return tiers.map((each, at) => (at === index ? { ...each, compaction_ratio: ratio, aggressiveness: null } : each))
}

/** Whether a tier can be cut in two. */
export function canSplit(tiers: readonly TierConfig[], index: number): boolean {
  return tiers.length < MOST_TIERS && (shares(tiers)[index] ?? 0) >= 2 * NARROWEST
}

/** Cuts a tier in two, in its middle. */
export function splitTier(tiers: readonly TierConfig[], index: number): TierConfig[] {
  const one = tiers[index]
  return one === undefined ? [...tiers] : splitAt(tiers, one.end_percent - (shares(tiers)[index] ?? 0) / 2)
}

/** Puts a border at a place in percent; both sides are as the tier was. Nothing happens next to another border. */
export function splitAt(tiers: readonly TierConfig[], percent: number): TierConfig[] {
  const index = tiers.findIndex((each) => percent < each.end_percent)
  const one = tiers[index]
  if (one === undefined || !canSplit(tiers, index)) return [...tiers]
  const before = tiers[index - 1]?.end_percent ?? 0
  const middle = Math.min(one.end_percent - NARROWEST, Math.max(before + NARROWEST, Math.round(percent)))
  return [...tiers.slice(0, index), { ...one, end_percent: middle }, one, ...tiers.slice(index + 1)]
}

/** Takes a tier out; the one before it, or for the first the one behind, takes in its messages. */
export function withoutTier(tiers: readonly TierConfig[], index: number): TierConfig[] {
  if (tiers.length < 2) return [...tiers]
  const end = tiers[index]?.end_percent ?? 100
  return tiers.flatMap((each, at) => (at === index ? [] : [at === index - 1 ? { ...each, end_percent: end } : each]))
}

/** Takes a border away; the tier before it takes in the one behind. */
export function withoutBorder(tiers: readonly TierConfig[], border: number): TierConfig[] {
  const behind = tiers[border + 1]
  if (behind === undefined) return [...tiers]
  return tiers.flatMap((each, index) => (index === border ? [{ ...each, end_percent: behind.end_percent }] : index === border + 1 ? [] : [each]))
}

/** How wide each is, in percent. */
export function shares(tiers: readonly TierConfig[]): number[] {
  return tiers.map((each, index) => each.end_percent - (tiers[index - 1]?.end_percent ?? 0))
}

/** Widths of columns by their shares, none narrower than `least`. */
export function columnWidths(parts: readonly number[], total: number, least: number): number[] {
  const all = parts.reduce((sum, part) => sum + part, 0)
  if (all <= 0 || parts.length * least >= total) return parts.map(() => total / parts.length)
  const fixed = new Set<number>()
  for (;;) {
    const left = total - fixed.size * least
    const free = parts.reduce((sum, part, index) => (fixed.has(index) ? sum : sum + part), 0)
    const narrow = parts.findIndex((part, index) => !fixed.has(index) && (part / free) * left < least)
    if (narrow === -1) return parts.map((part, index) => (fixed.has(index) ? least : (part / free) * left))
    fixed.add(narrow)
  }
}
