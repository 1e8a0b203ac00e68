//! How high a row will be, about, before it is measured.

import type { Row } from './conversation'

/** Pixels; rows that are not read yet are taken for an average one. */
export function rowHeight(row: Row | undefined): number {
  if (row === undefined) return 48
  switch (row.kind) {
    case 'hidden':
      return 0
    case 'compaction':
      return 44
    case 'summary':
    case 'meta':
    case 'notice':
    case 'command':
      return 36
    default:
  }
  let height = row.opens ? 40 : 8
  for (const section of row.sections) {
    if (section.kind === 'text') height += Math.min(1200, 20 * Math.ceil(section.text.length / 110 + section.text.split('\n').length / 2)) + 8
    else if (section.kind === 'calls') height += 28 * section.calls.length
    else height += 28
  }
  return height
}
