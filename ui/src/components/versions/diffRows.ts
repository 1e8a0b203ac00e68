//! Lines of a comparison as rows: one under the other, or side by side.

import type { DiffLine } from '../../api/generated/DiffLine'

/** A row of two cells; a removed line stands beside the line that was added in its place. */
export interface SideRow {
  left: DiffLine | undefined
  right: DiffLine | undefined
  /** Equal lines that are not shown; both cells are this line then. */
  skipped: boolean
}

export function sideBySide(lines: readonly DiffLine[]): SideRow[] {
  const rows: SideRow[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  function flush(): void {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) rows.push({ left: removed[index], right: added[index], skipped: false })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') {
      // What was removed after something was added belongs to the next change.
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.kind === 'added') added.push(line)
    else {
      flush()
      rows.push({ left: line, right: line, skipped: line.kind === 'skipped' })
    }
  }
  flush()
  return rows
}

/** What stands in the place of equal lines. */
export function skippedWords(lines: readonly DiffLine[], index: number): string {
  const line = lines[index]
  const said = line?.words.map((word) => word.text).join('').trim()
  if (said !== undefined && said !== '') return said
  const before = lines[index - 1]
  const after = lines[index + 1]
  const from = before?.left_line ?? 0
  const to = after?.left_line
  return to == null ? 'equal lines' : `${String(Math.max(0, to - from - 1))} equal lines`
}

/** Where each changed stretch begins. */
export function changesIn(lines: readonly DiffLine[]): number[] {
  const changed = (line: DiffLine | undefined): boolean => line?.kind === 'added' || line?.kind === 'removed'
  return lines.flatMap((line, index) => (changed(line) && !changed(lines[index - 1]) ? [index] : []))
}
