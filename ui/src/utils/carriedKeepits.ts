//! Keepits within the text of a composed message: a passage is found by its words, for versions keep them word for word.

import type { KeepitMarker } from '../api/generated/KeepitMarker'
import type { Passage } from './passages'

const OPENING_BEFORE = /##keepit\s*\d*\.?\d*##[ \t]*\n?$/i

/** The markers of the message's sources whose words stand in its text; positions are UTF-16 units. */
export function carriedPassages(text: string, markers: readonly KeepitMarker[], sourceIndexes: readonly number[]): Passage[] {
  const passages: Passage[] = []
  const sources = new Set(sourceIndexes)
  for (const marker of markers) {
    if (!sources.has(marker.message_index)) continue
    const content = marker.content.trim()
    if (content === '') continue
    const contentStart = text.indexOf(content)
    if (contentStart === -1) continue
    const end = contentStart + content.length
    const opening = OPENING_BEFORE.exec(text.slice(Math.max(0, contentStart - 40), contentStart))?.[0].length ?? 0
    if (passages.some((other) => contentStart < other.end && other.contentStart < end)) continue
    passages.push({ markerId: marker.marker_id, weight: marker.weight, start: contentStart - opening, contentStart, end })
  }
  return passages.sort((left, right) => left.start - right.start)
}
