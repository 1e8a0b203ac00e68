//! A long Markdown text in pieces that can be shown one by one: cut at blank lines, never inside a code block.

/** A piece is ended at the first blank line past so many characters. */
const LEAST = 3000

export function markdownPieces(markdown: string): string[] {
  const pieces: string[] = []
  let lines: string[] = []
  let length = 0
  let fence: string | undefined
  for (const line of markdown.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    lines.push(line)
    length += line.length + 1
    const ends = fence === undefined && line.trim() === '' && length >= LEAST
    if (ends) {
      pieces.push(lines.join('\n'))
      lines = []
      length = 0
    }
  }
  if (lines.some((line) => line.trim() !== '')) pieces.push(lines.join('\n'))
  return pieces
}
