//! Where a message of a version comes from, in words.

export interface SourceSpan {
  first: number
  last: number
}

/** Neighbours joined: 3, 4, 5, 9 are 3 – 5 and 9. */
export function sourceSpans(indexes: readonly number[]): SourceSpan[] {
  const spans: SourceSpan[] = []
  for (const index of [...new Set(indexes)].sort((a, b) => a - b)) {
    const last = spans.at(-1)
    if (last !== undefined && index === last.last + 1) last.last = index
    else spans.push({ first: index, last: index })
  }
  return spans
}

/** `231`, `232 – 238`; numbers as the conversation shows them, from 1. */
export function spanText(span: SourceSpan): string {
  return span.first === span.last ? String(span.first + 1) : `${String(span.first + 1)} – ${String(span.last + 1)}`
}
