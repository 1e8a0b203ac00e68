import { describe, expect, it } from 'vitest'
import { aDecayRow } from '../../testing/decay'
import { crossing, decayGeometry } from './decayChart'
import { chartWords, oneLine, reachWords, rowEnd, spread } from './decayWords'

describe('words of a decay row', () => {
  it('name the first distance at which the passage is lost', () => {
    const row = aDecayRow(30, 0.75)
    expect(rowEnd(row)).toBe('lost from 9')
    expect(reachWords(row)).toBe('Kept word for word up to distance 8.')
    expect(chartWords(row, 0.75)).toBe('At 30 to 1 the threshold rises from 0.53 at distance 1 to 0.80 at distance 10. This keepit, 0.75, is lost from distance 9.')
  })

  it('say so when it is kept at any distance, or at none', () => {
    expect(rowEnd(aDecayRow(5, 0.75))).toBe('kept to 10')
    expect(reachWords(aDecayRow(5, 0.75))).toBe('Kept word for word at any distance.')
    expect(reachWords(aDecayRow(30, 0.1))).toBe('Summarized at any distance.')
  })
})

describe('a passage on one line', () => {
  it('loses the signs of Markdown, not its words', () => {
    expect(oneLine('## Decision\n\n- **Redis** holds `a_b`\n- 3 * 4')).toBe('Decision Redis holds a_b 3 * 4')
  })
})

describe('the chart', () => {
  it('breaks the line of the weight where the threshold rises over it', () => {
    expect(crossing(aDecayRow(30, 0.75), 0.75), '0.50 + 0.30 × d / 10 is 0.75 at 8⅓').toBeCloseTo(8.333, 2)
    expect(crossing(aDecayRow(5, 0.75), 0.75)).toBeUndefined()
    expect(crossing(aDecayRow(30, 0.1), 0.1), 'lost from the first distance on').toBe(1)
  })

  it('names the crossing inside of the drawing, at either side', () => {
    expect(decayGeometry(aDecayRow(30, 0.75), 0.75)?.lost).toMatchObject({ distance: 9, labelAnchor: 'end' })
    expect(decayGeometry(aDecayRow(30, 0.56), 0.56)?.lost).toMatchObject({ distance: 3, labelAnchor: 'start' })
    expect(decayGeometry(aDecayRow(30, 1), 1)?.lost).toBeUndefined()
  })

  it('keeps all of its lines within the box, whatever the weight', () => {
    for (let hundredths = 0; hundredths <= 100; hundredths += 1) {
      const drawn = decayGeometry(aDecayRow(50, hundredths / 100), hundredths / 100)
      expect(drawn?.weightY, `weight ${String(hundredths)}`).toBeGreaterThanOrEqual(8)
      expect(drawn?.weightY, `weight ${String(hundredths)}`).toBeLessThanOrEqual(130)
    }
  })

  it('spreads what is too much, with both ends', () => {
    expect(spread([1, 2, 3], 10)).toEqual([1, 2, 3])
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(spread(hundred, 10)).toEqual([1, 12, 23, 34, 45, 56, 67, 78, 89, 100])
  })
})
