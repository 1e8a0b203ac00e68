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
    before = Math.min(after, Math.max(before + NARROWEST, Math.round(borders[index] ?? each.end_percent)))
    return { ...each, end_percent: before }
  })
}

/** Another ratio for one tier; its level follows the ratio from then on. */
export function withRatio(tiers: readonly TierConfig[], index: number, ratio: number): TierConfig[] {
  return tiers.map((each, at) => (at === index ? { ...each, compaction_ratio: ratio, aggressiveness: null } : each))
}

/** Cuts the widest tier in two. */
export function splitWidest(tiers: readonly TierConfig[]): TierConfig[] {
  const spans = shares(tiers)
  const widest = spans.indexOf(Math.max(...spans))
  const one = tiers[widest]
  const width = spans[widest] ?? 0
  if (one === undefined || tiers.length >= MOST_TIERS || width < 2 * NARROWEST) return [...tiers]
  const middle = Math.round(one.end_percent - width / 2)
  return [...tiers.slice(0, widest), { ...one, end_percent: middle }, one, ...tiers.slice(widest + 1)]
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
