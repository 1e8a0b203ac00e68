import { describe, expect, it } from 'vitest'
import { bordersOf, columnWidths, MOST_TIERS, READY_TIERS, shares, splitWidest, withBorders, withoutBorder, withRatio } from './tiers'

const standard = [...READY_TIERS.standard]

describe('tiers', () => {
  it('of each ready set end with the session and press less the nearer they are to its end', () => {
    for (const [name, tiers] of Object.entries(READY_TIERS)) {
      expect(tiers.at(-1)?.end_percent, name).toBe(100)
      expect(tiers.map((tier) => tier.compaction_ratio), name).toEqual(tiers.map((tier) => tier.compaction_ratio).sort((a, b) => b - a))
    }
  })

  it('keep their order however a border is dragged', () => {
    expect(bordersOf(withBorders(standard, [60, 50, 75, 90])), 'a border pushes those behind it').toEqual([60, 62, 75, 90])
    expect(bordersOf(withBorders(standard, [0, 50, 75, 100])), 'none leaves the session').toEqual([2, 50, 75, 98])
    for (let first = 0; first <= 100; first += 1) {
      const widths = shares(withBorders(standard, [first, 50, 75, 90]))
      expect(Math.min(...widths), `first border at ${String(first)}`).toBeGreaterThanOrEqual(2)
      expect(widths.reduce((sum, width) => sum + width, 0)).toBe(100)
    }
  })

  it('let the level follow a ratio that was set by hand', () => {
    expect(withRatio(standard, 0, 4)[0]).toEqual({ end_percent: 25, compaction_ratio: 4, aggressiveness: null })
    expect(withRatio(standard, 0, 4)[1]).toEqual(standard[1])
  })

  it('split at the widest and join again', () => {
    const one = [{ end_percent: 40, compaction_ratio: 20, aggressiveness: null }, { end_percent: 100, compaction_ratio: 5, aggressiveness: null }]
    expect(bordersOf(splitWidest(one))).toEqual([40, 70])
    expect(withoutBorder(splitWidest(one), 1)).toEqual(one)
    let many = standard
    for (let turn = 0; turn < 20; turn++) many = splitWidest(many)
    expect(many).toHaveLength(MOST_TIERS)
  })

  it('have columns that fill the row, none too narrow for its figures', () => {
    const widths = columnWidths([25, 25, 25, 15, 10], 520, 84)
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(84)
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(520)
    expect(columnWidths([50, 50], 520, 84)).toEqual([260, 260])
  })
})
