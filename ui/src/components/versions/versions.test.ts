import { describe, expect, it } from 'vitest'
import type { DiffLine } from '../../api/generated/DiffLine'
import { changesIn, sideBySide, skippedWords } from './diffRows'
import { sourceSpans, spanText } from './sourceRanges'

function line(kind: DiffLine['kind'], text: string, left?: number, right?: number): DiffLine {
  return { kind, left_line: left ?? null, right_line: right ?? null, words: text === '' ? [] : [{ text, changed: false }] }
}

describe('a comparison side by side', () => {
  const lines = [line('equal', 'a', 1, 1), line('removed', 'b', 2), line('removed', 'c', 3), line('added', 'B', undefined, 2), line('skipped', ''), line('added', 'd', undefined, 40), line('equal', 'e', 43, 41)]

  it('puts what was added beside what it stands for', () => {
    expect(sideBySide(lines).map((row) => [row.left?.words[0]?.text, row.right?.words[0]?.text])).toEqual([['a', 'a'], ['b', 'B'], ['c', undefined], [undefined, undefined], [undefined, 'd'], ['e', 'e']])
  })

  it('loses no line', () => {
    const seen = new Set(sideBySide(lines).flatMap((row) => [row.left, row.right]))
    expect(lines.every((each) => seen.has(each))).toBe(true)
  })

  it('finds each change once', () => {
    expect(changesIn(lines)).toEqual([1, 5])
  })

  it('says how many equal lines are folded', () => {
    expect(skippedWords([line('equal', 'a', 10, 10), line('skipped', ''), line('equal', 'b', 51, 60)], 1)).toBe('40 equal lines')
    expect(skippedWords([line('skipped', '12 equal lines')], 0)).toBe('12 equal lines')
  })
})

describe('sources of a message', () => {
  it('are joined where they are neighbours, and counted from 1', () => {
    expect(sourceSpans([4, 3, 5, 9, 9]).map(spanText)).toEqual(['4 – 6', '10'])
    expect(sourceSpans([])).toEqual([])
  })
})
