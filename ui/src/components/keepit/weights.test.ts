import { describe, expect, it } from 'vitest'
import { weightPresets } from '../../utils/format'
import { parseWeight, snapToPreset } from './weights'

describe('a typed weight', () => {
  it.each([
    ['0.8', 0.8],
    ['.8', 0.8],
    ['0,75', 0.75],
    ['80%', 0.8],
    [' 80 % ', 0.8],
    ['1', 1],
    ['1.', 1],
    ['0', 0],
    ['0.333', 0.33],
  ])('%s is %s', (typed, weight) => expect(parseWeight(typed)).toBe(weight))

  it.each(['', '1.2', '-0.1', '0.5.1', 'high', '120%', '.'])('%s is none', (typed) => expect(parseWeight(typed), 'nothing is saved that was not said').toBeUndefined())
})

describe('the slider', () => {
  it('stops at a preset that is near, and only there', () => {
    expect(snapToPreset(0.76, weightPresets)).toBe(0.75)
    expect(snapToPreset(0.88, weightPresets), 'two hundredths away is its own weight').toBe(0.88)
    expect(snapToPreset(0.6, weightPresets)).toBe(0.6)
  })
})
