//! Keepit passages within the source of one text block: where their words are, and the source without the markers' syntax.

import type { KeepitMarker } from '../api/generated/KeepitMarker'
import { codePointToUnit } from './offsets'

/** A marked passage; positions are UTF-16 units of the block's source. */
export interface Passage {
  markerId: string
  weight: number
  /** Where the marker's syntax, or its words, begin. */
  start: number
  /** Where its words begin. */
  contentStart: number
  /** One past its words. */
  end: number
}

const OPENING = /^##keepit\s*\d*\.?\d*##[ \t]*/i
const CLOSING = /^\s*##\/keepit##/i

/** The markers of a message that lie in a block which begins at `blockStart` (UTF-16) of the message's text. */
export function passagesOf(markers: readonly KeepitMarker[], messageText: string, blockStart: number, source: string): Passage[] {
  const passages: Passage[] = []
  for (const marker of markers) {
    const start = codePointToUnit(messageText, marker.start) - blockStart
    const end = Math.min(source.length, codePointToUnit(messageText, marker.end) - blockStart)
    if (start < 0 || start >= source.length || end <= start) continue
    const opening = marker.source === 'text' ? (OPENING.exec(source.slice(start, start + 40))?.[0].length ?? 0) : 0
    passages.push({ markerId: marker.marker_id, weight: marker.weight, start, contentStart: Math.min(end, start + opening), end })
  }
  return passages.sort((a, b) => a.start - b.start)
}

/** The source as it is shown, and the way back from its positions. */
export interface VisibleSource {
  text: string
  toSource: (visible: number) => number
}

/** Takes the markers' syntax out. A marker at the start of a line opens a paragraph, so that its passage is a block of its own. */
export function visibleSource(source: string, passages: readonly Passage[]): VisibleSource {
  const cuts: { from: number; to: number; instead: string }[] = []
  for (const passage of passages) {
    if (passage.contentStart > passage.start) {
      const opensLine = passage.start > 0 && source[passage.start - 1] === '\n' && source[passage.start - 2] !== '\n'
      cuts.push({ from: passage.start, to: passage.contentStart, instead: opensLine ? '\n' : '' })
      const closing = CLOSING.exec(source.slice(passage.end, passage.end + 40))?.[0].length ?? 0
      if (closing > 0) {
        const endsLine = source[passage.end + closing] === '\n' && source[passage.end + closing + 1] !== '\n'
        cuts.push({ from: passage.end, to: passage.end + closing, instead: endsLine ? '\n' : '' })
      }
    }
  }
  if (cuts.length === 0) return { text: source, toSource: (visible) => visible }
  let text = ''
  let at = 0
  /** Where each kept stretch begins, in what is shown and in the source. */
  const stretches: { visible: number; source: number }[] = [{ visible: 0, source: 0 }]
  for (const cut of cuts) {
    if (cut.from < at) continue
    text += source.slice(at, cut.from) + cut.instead
    at = cut.to
    stretches.push({ visible: text.length, source: at })
  }
  text += source.slice(at)
  return {
    text,
    toSource: (visible) => {
      let stretch = stretches[0] ?? { visible: 0, source: 0 }
      for (const next of stretches) if (next.visible <= visible) stretch = next
      return stretch.source + (visible - stretch.visible)
    },
  }
}
