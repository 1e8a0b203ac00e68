//! Two texts as lines with their differences, and the words that changed within changed lines.

import { diffLines, diffWordsWithSpace } from 'diff'

export interface DiffRow {
  kind: 'same' | 'added' | 'removed'
  /** Line numbers before and after, from 1. */
  before: number | undefined
  after: number | undefined
  /** Runs of the line; `changed` for the words that differ from the other side. */
  words: { text: string; changed: boolean }[]
}

export interface LineDiff {
  rows: DiffRow[]
  added: number
  removed: number
}

/** Pairs of lines longer than this are not compared by words. */
const MOST_CHARACTERS = 2000
/** Texts with more lines in all are shown as removed and added. */
const MOST_LINES = 4000

export function lineDiff(before: string, after: string, firstLine = 1): LineDiff {
  const rows: DiffRow[] = []
  let beforeLine = firstLine
  let afterLine = firstLine
  let removed: string[] = []
  let added: string[] = []

  function flush(): void {
    const pairs = removed.length === added.length ? removed.map((line, index) => wordDiff(line, added[index] ?? '')) : undefined
    removed.forEach((line, index) => rows.push({ kind: 'removed', before: beforeLine++, after: undefined, words: pairs?.[index]?.removed ?? [{ text: line, changed: false }] }))
    added.forEach((line, index) => rows.push({ kind: 'added', before: undefined, after: afterLine++, words: pairs?.[index]?.added ?? [{ text: line, changed: false }] }))
    removed = []
    added = []
  }

  for (const change of compare(before, after)) {
    const lines = splitLines(change.value)
    if (change.removed) removed.push(...lines)
    else if (change.added) added.push(...lines)
    else {
      flush()
      for (const line of lines) rows.push({ kind: 'same', before: beforeLine++, after: afterLine++, words: [{ text: line, changed: false }] })
    }
  }
  flush()
  return { rows, added: rows.filter((row) => row.kind === 'added').length, removed: rows.filter((row) => row.kind === 'removed').length }
}

interface Change {
  value: string
  added?: boolean
  removed?: boolean
}

function compare(before: string, after: string): Change[] {
  if (before === '') return after === '' ? [] : [{ value: after, added: true }]
  if (splitLines(before).length + splitLines(after).length > MOST_LINES) return [{ value: before, removed: true }, { value: after, added: true }]
  // A last line with and without its end is the same line to its reader.
  return diffLines(ended(before), ended(after))
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function wordDiff(before: string, after: string): { removed: DiffRow['words']; added: DiffRow['words'] } | undefined {
  if (before.length + after.length > MOST_CHARACTERS) return undefined
  const changes = diffWordsWithSpace(before, after)
  const same = changes.filter((change) => !change.added && !change.removed).reduce((sum, change) => sum + change.value.trim().length, 0)
  // Lines that share next to nothing are another line, not a changed one.
  if (same < Math.min(before.trim().length, after.trim().length) * 0.3) return undefined
  return {
    removed: changes.filter((change) => !change.added).map((change) => ({ text: change.value, changed: change.removed })),
    added: changes.filter((change) => !change.removed).map((change) => ({ text: change.value, changed: change.added })),
  }
}
