//! The budget bar: where its parts are, and what it says in words.

import { count } from './format'

/** What stands on the bar. */
export interface BarInput {
  budget: number
  window: number
  /** Tokens of each card, in order; nothing for one that is not known yet. */
  cards: readonly { key: string; tokens: number | undefined }[]
  /** Tokens of headings and preamble. */
  overhead: number
  /** What is dragged, and before which card it would stand. */
  ghost?: { at: number; tokens: number } | undefined
  /** The total with what is dragged, when the engine said it: shares of the others shrink. */
  totalWithGhost?: number | undefined
}

export interface BarSegment {
  key: string
  kind: 'card' | 'ghost' | 'overhead'
  /** Number of the card. */
  number: number
  tokens: number
  /** Percent of the bar's width. */
  width: number
}

export interface Bar {
  segments: BarSegment[]
  total: number
  over: number
  free: number
  /** Percent of the bar's width at which the budget ends. */
  limit: number
  /** Percent of the context window that the budget takes, at most 100. */
  windowShare: number
  /** Percent of the strip at which the bar's right edge stands: the bar is the strip's beginning, enlarged. */
  projection: number
}

export function barOf(input: BarInput): Bar {
  const segments: BarSegment[] = []
  input.cards.forEach((card, index) => {
    if (input.ghost?.at === index) segments.push({ key: 'ghost', kind: 'ghost', number: 0, tokens: input.ghost.tokens, width: 0 })
    if (card.tokens !== undefined && card.tokens > 0) segments.push({ key: card.key, kind: 'card', number: index + 1, tokens: card.tokens, width: 0 })
  })
  if (input.ghost !== undefined && input.ghost.at >= input.cards.length) {
    segments.push({ key: 'ghost', kind: 'ghost', number: 0, tokens: input.ghost.tokens, width: 0 })
  }
  if (input.overhead > 0 && segments.length > 0) segments.push({ key: 'overhead', kind: 'overhead', number: 0, tokens: input.overhead, width: 0 })
  const total = segments.reduce((sum, segment) => sum + segment.tokens, 0)
  const scale = Math.max(input.budget, total, 1)
  for (const segment of segments) segment.width = (segment.tokens / scale) * 100
  const share = input.window > 0 ? (input.budget / input.window) * 100 : 100
  return {
    segments,
    total,
    over: Math.max(0, total - input.budget),
    free: Math.max(0, input.budget - total),
    limit: (input.budget / scale) * 100,
    windowShare: Math.min(100, share),
    projection: input.window > 0 ? Math.min(100, (scale / input.window) * 100) : 100,
  }
}

/** `14,452 used, 1,548 free`; `16,832 used, 832 over budget`. */
export function usedWords(used: number, budget: number): string {
  return used > budget ? `${count(used)} used, ${count(used - budget)} over budget` : `${count(used)} used, ${count(budget - used)} free`
}

/** What dropping here would do. `about` while the engine has not said it. */
export function ghostWords(total: number, budget: number, exact: boolean): { text: string; over: boolean } {
  const about = exact ? '' : 'about '
  if (total > budget) return { text: `Dropping here goes ${about}${count(total - budget)} over budget`, over: true }
  return { text: `Dropping here leaves ${about}${count(budget - total)} free`, over: false }
}

/** `8 %`, `0.5 %`, `140 %` of the context window. */
export function windowWords(budget: number, window: number): string {
  const share = (budget / window) * 100
  return `${share >= 9.95 || share === Math.round(share) ? String(Math.round(share)) : share.toFixed(1)} % of the context window`
}

/** What the bar shows, for those who do not see it. */
export function barLabel(bar: Bar, budget: number, ghost?: { text: string }): string {
  const parts = bar.segments.filter((segment) => segment.kind === 'card').map((segment) => `${String(segment.number)}: ${count(segment.tokens)}`)
  const used = bar.segments.filter((segment) => segment.kind !== 'ghost').reduce((sum, segment) => sum + segment.tokens, 0)
  return [`Budget ${count(budget)} tokens: ${usedWords(used, budget)}`, ...(parts.length > 0 ? [`by card ${parts.join(', ')}`] : []), ...(ghost === undefined ? [] : [ghost.text])].join('; ')
}
