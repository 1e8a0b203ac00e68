import { describe, expect, it } from 'vitest'
import { chartMonths, keptParts, monthWords } from './storageFigures'

const share = (original: number, unique: number, stored: number, sessions = 1): Parameters<typeof keptParts>[0] => ({ sessions, messages: 0, original_bytes: original, unique_bytes: unique, stored_bytes: stored })

describe('the parts of what is kept', () => {
  it('add up to the original', () => {
    expect(keptParts(share(1000, 600, 100))).toEqual({ original: 1000, stored: 100, packed: 500, repeated: 400 })
  })

  it('are never less than nothing, when a tiny session takes more in a pack than it is long', () => {
    const parts = keptParts(share(100, 100, 140))
    expect(parts).toEqual({ original: 100, stored: 100, packed: 0, repeated: 0 })
  })
})

describe('months of the chart', () => {
  const month = (name: string | null, original: number): Parameters<typeof chartMonths>[0][number] => ({ month: name, ...share(original, original, original / 10) })

  it('have no gaps, over the turn of a year as well', () => {
    const months = chartMonths([month('2025-11', 10), month('2026-02', 20)], 12)
    expect(months.map((each) => [each.key, each.original])).toEqual([['2025-11', 10], ['2025-12', 0], ['2026-01', 0], ['2026-02', 20]])
  })

  it('join what does not fit into one bar, and lose nothing', () => {
    const given = Array.from({ length: 30 }, (_, at) => month(`20${String(23 + Math.floor(at / 12))}-${String((at % 12) + 1).padStart(2, '0')}`, at + 1))
    const months = chartMonths([...given, month(null, 7)], 12)
    expect(months).toHaveLength(12)
    expect(months[0]?.key, 'the oldest stand together at the left').toBe('older')
    expect(months.at(-1)?.key, 'sessions without a time stand at the right').toBe('undated')
    expect(months.reduce((sum, each) => sum + each.original, 0)).toBe(given.reduce((sum, each) => sum + each.original_bytes, 7))
  })

  it('are none without sessions', () => {
    expect(chartMonths([], 12)).toEqual([])
  })

  it('say all their parts in words', () => {
    const [only] = chartMonths([month('2026-01', 1000)], 12)
    expect(only && monthWords(only, 'January 2026')).toBe('January 2026: 1 kB in 1 session; stored 100 B, saved by packing 900 B, repeated 0 B')
  })
})
