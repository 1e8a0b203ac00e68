import { describe, expect, it } from 'vitest'
import { chartMonths } from '../../utils/storageFigures'
import { CHART, monthGeometry, mostBars } from './monthChart'

const months = chartMonths(
  [100, 517, 320].map((bytes, at) => ({ month: `2026-0${String(at + 1)}`, sessions: 2, messages: 9, original_bytes: bytes * 1e6, unique_bytes: bytes * 4e5, stored_bytes: bytes * 1e5 })),
  12,
)

describe('the chart of months', () => {
  const drawn = monthGeometry(months, 728)

  it('stacks the parts of a bar from the ground to its top without overlap', () => {
    for (const bar of drawn.bars) {
      const [stored, packed, repeated] = bar.parts
      expect((stored?.y ?? 0) + (stored?.height ?? 0)).toBeCloseTo(drawn.base)
      expect((packed?.y ?? 0) + (packed?.height ?? 0), 'a pixel of ground between two parts').toBeCloseTo((stored?.y ?? 0) - 1)
      expect((repeated?.y ?? 0) + (repeated?.height ?? 0)).toBeCloseTo((packed?.y ?? 0) - 1)
      expect(repeated?.y).toBeCloseTo(bar.top)
    }
  })

  it('is in a unit that its highest bar needs, and calls that one out', () => {
    expect([drawn.unit, drawn.highest?.label, drawn.highest?.bar.month.key]).toEqual(['MB', '517', '2026-02'])
    expect(drawn.grid.map((line) => line.label)).toEqual(['0', '200', '400', '600'])
  })

  it('stays within its width, however many bars there are', () => {
    for (const width of [340, 728, 1048]) {
      const many = chartMonths(Array.from({ length: 60 }, (_, at) => ({ month: `${String(2020 + Math.floor(at / 12))}-${String((at % 12) + 1).padStart(2, '0')}`, sessions: 1, messages: 1, original_bytes: at, unique_bytes: at, stored_bytes: 1 })), mostBars(width))
      const last = monthGeometry(many, width).bars.at(-1)
      expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(width)
      expect(monthGeometry(many, width).bars[0]?.x).toBeGreaterThanOrEqual(CHART.left)
    }
  })

  it('is empty ground without months', () => {
    expect(monthGeometry([], 728)).toMatchObject({ bars: [], highest: undefined })
  })
})
