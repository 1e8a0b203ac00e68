//! What a row of the decay table says, in words.

import type { DecayRow } from '../../api/generated/DecayRow'
import { weight as weightText } from '../../utils/format'

/** `kept to 10`, `lost from 9`: the last column of the table. */
export function rowEnd(row: DecayRow): string {
  const last = row.cells.at(-1)?.distance
  if (row.lost_from == null) return last === undefined ? 'kept' : `kept to ${String(last)}`
  return `lost from ${String(row.lost_from)}`
}

/** How long the passage is kept at this ratio. */
export function reachWords(row: DecayRow): string {
  if (row.lost_from == null) return 'Kept word for word at any distance.'
  const kept = row.cells.findLast((cell) => cell.distance < (row.lost_from ?? 0))?.distance
  return kept === undefined ? 'Summarized at any distance.' : `Kept word for word up to distance ${String(kept)}.`
}

/** One sentence that says what the chart shows. */
export function chartWords(row: DecayRow, weight: number): string {
  const first = row.cells[0]
  const last = row.cells.at(-1)
  if (first === undefined || last === undefined) return ''
  const fate = row.lost_from == null ? 'is kept at any distance' : `is lost from distance ${String(row.lost_from)}`
  return `At ${String(row.ratio)} to 1 the threshold rises from ${weightText(first.threshold)} at distance ${String(first.distance)} to ${weightText(last.threshold)} at distance ${String(last.distance)}. This keepit, ${weightText(weight)}, ${fate}.`
}

/** At most `most` of the items, evenly spread, the first and the last among them. */
export function spread<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items]
  const picked = new Set<number>()
  for (let step = 0; step < most; step++) picked.add(Math.round((step * (items.length - 1)) / (most - 1)))
  return items.filter((_, index) => picked.has(index))
}

/** A passage on one line, without the signs of Markdown. */
export function oneLine(content: string): string {
  return content
    .replace(/(^|\n)\s*(?:#{1,6}|[-*>]|\d+\.)\s+/g, ' ')
    .replace(/\*\*|__|`/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
