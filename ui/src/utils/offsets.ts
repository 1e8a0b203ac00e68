//! Positions: the engine counts Unicode characters, strings of the page count UTF-16 units.

/** UTF-16 units before the character at `codePoint`; the text's length when it has fewer. */
export function codePointToUnit(text: string, codePoint: number): number {
  let unit = 0
  for (let seen = 0; seen < codePoint && unit < text.length; seen++) unit += isPair(text, unit) ? 2 : 1
  return unit
}

/** Characters before a UTF-16 unit; within a pair, those before the pair. */
export function unitToCodePoint(text: string, unit: number): number {
  let seen = 0
  for (let at = 0; at < unit && at < text.length; seen++) {
    at += isPair(text, at) ? 2 : 1
    if (at > unit) return seen
  }
  return seen
}

function isPair(text: string, unit: number): boolean {
  const high = text.charCodeAt(unit)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(unit + 1)
  return low >= 0xdc00 && low <= 0xdfff
}

const BETWEEN_BLOCKS = '\n\n'

/** Where each of `parts` begins in `text`, in which they stand in order, each between blank lines; nothing for one that does not. */
export function placeParts(text: string, parts: readonly string[]): (number | undefined)[] {
  let from = 0
  return parts.map((part) => {
    if (part === '') return undefined
    for (let at = text.indexOf(part, from); at !== -1; at = text.indexOf(part, at + 1)) {
      const opens = at === 0 || text.startsWith(BETWEEN_BLOCKS, at - 2)
      const ends = at + part.length === text.length || text.startsWith(BETWEEN_BLOCKS, at + part.length)
      if (opens && ends) {
        from = at + part.length
        return at
      }
    }
    return undefined
  })
}
