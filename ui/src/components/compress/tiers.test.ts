import { describe, expect, it } from 'vitest'
import { bordersOf, columnWidths, lastMessage, MOST_TIERS, READY_TIERS, shares, splitAt, splitTier, withBorders, withLastMessage, withoutBorder, withoutTier, withRatio } from './tiers'

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

  it('split and join again', () => {
    const one = [{ end_percent: 40, compaction_ratio: 20, aggressiveness: null }, { end_percent: 100, compaction_ratio: 5, aggressiveness: null }]
    expect(bordersOf(splitTier(one, 1))).toEqual([40, 70])
    expect(withoutBorder(splitTier(one, 1), 1)).toEqual(one)
    let many = standard
    for (let turn = 0; turn < 20; turn++) many = splitTier(many, turn % many.length)
    expect(many).toHaveLength(MOST_TIERS)
  })

  it('end with the message that was typed, within their neighbours, and stay there while others are dragged', () => {
    const typed = withLastMessage(standard, 1, 203, 450)
    expect(typed.map((tier) => lastMessage(tier, 450))).toEqual([113, 203, 338, 405, 450])
    expect(bordersOf(withBorders(typed, [20, bordersOf(typed)[1] ?? 0, 75, 90]))[1], 'not rounded to a percent').toBe(bordersOf(typed)[1])
    expect(lastMessage(withLastMessage(standard, 1, 1, 450)[1], 450), 'a tier keeps a message').toBe(114)
    expect(lastMessage(withLastMessage(standard, 1, 9999, 450)[1], 450), 'and so does the next').toBe(337)
    expect(withLastMessage(standard, 4, 3, 450), 'the last ends with the session').toEqual(standard)
  })

  it('are split where it is wanted and taken out again, first and last alike', () => {
    expect(bordersOf(splitAt(standard, 60))).toEqual([25, 50, 60, 75, 90])
    expect(bordersOf(splitAt(standard, 50.4)), 'not narrower than can be seen').toEqual([25, 50, 52, 75, 90])
    expect(bordersOf(splitTier(standard, 1))).toEqual([25, 38, 50, 75, 90])
    expect(withoutTier(standard, 0).map((tier) => [tier.end_percent, tier.compaction_ratio])).toEqual([[50, 15], [75, 10], [90, 5], [100, 3]])
    expect(withoutTier(standard, 4).map((tier) => [tier.end_percent, tier.compaction_ratio])).toEqual([[25, 25], [50, 15], [75, 10], [100, 5]])
    expect(withoutTier([standard[4] ?? { end_percent: 100, compaction_ratio: 3 }], 0)).toHaveLength(1)
  })

  it('have columns that fill the row, none too narrow for its figures', () => {
    const widths = columnWidths([25, 25, 25, 15, 10], 520, 84)
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(84)
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(520)
    expect(columnWidths([50, 50], 520, 84)).toEqual([260, 260])
  })
})
