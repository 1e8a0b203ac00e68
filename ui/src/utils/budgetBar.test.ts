import { describe, expect, it } from 'vitest'
import { barLabel, barOf, ghostWords, usedWords, windowWords } from './budgetBar'

const cards = [
  { key: 'a', tokens: 3000 },
  { key: 'b', tokens: 7000 },
]

describe('the bar', () => {
  it('is as wide as the budget while it fits, with a number for each card', () => {
    const bar = barOf({ budget: 16_000, window: 200_000, cards, overhead: 0 })
    expect(bar.segments.map((segment) => [segment.number, segment.width])).toEqual([
      [1, 18.75],
      [2, 43.75],
    ])
    expect(bar).toMatchObject({ total: 10_000, over: 0, free: 6000, limit: 100, windowShare: 8, projection: 8 })
  })

  it('is as wide as what it holds when that is more, and the line stands where the budget ends', () => {
    const bar = barOf({ budget: 8000, window: 200_000, cards, overhead: 0 })
    expect(bar).toMatchObject({ over: 2000, free: 0, limit: 80 })
    expect(bar.segments.reduce((sum, segment) => sum + segment.width, 0)).toBeCloseTo(100)
    expect(bar.projection, 'the excess reaches further into the window than the budget').toBe(5)
  })

  it('puts what is dragged between the cards, and headings last', () => {
    const kinds = (at: number): string[] => barOf({ budget: 16_000, window: 200_000, cards, overhead: 100, ghost: { at, tokens: 2000 } }).segments.map((segment) => segment.kind)
    expect(kinds(0)).toEqual(['ghost', 'card', 'card', 'overhead'])
    expect(kinds(1)).toEqual(['card', 'ghost', 'card', 'overhead'])
    expect(kinds(2)).toEqual(['card', 'card', 'ghost', 'overhead'])
  })

  it('keeps the numbers of cards whose figures are not there yet', () => {
    const bar = barOf({ budget: 100, window: 1000, cards: [{ key: 'a', tokens: undefined }, { key: 'b', tokens: 10 }], overhead: 0 })
    expect(bar.segments.map((segment) => segment.number)).toEqual([2])
  })

  it('stands a budget that is more than the window, and one of 0', () => {
    expect(barOf({ budget: 300_000, window: 200_000, cards, overhead: 0 })).toMatchObject({ windowShare: 100, projection: 100 })
    expect(barOf({ budget: 0, window: 200_000, cards: [], overhead: 0 })).toMatchObject({ limit: 0, over: 0, total: 0 })
  })
})

describe('its words', () => {
  it('says what is free or over', () => {
    expect(usedWords(14_452, 16_000)).toBe('14,452 used, 1,548 free')
    expect(usedWords(16_832, 16_000)).toBe('16,832 used, 832 over budget')
    expect(usedWords(16_000, 16_000)).toBe('16,000 used, 0 free')
  })

  it('says what dropping would do, and whether that is sure', () => {
    expect(ghostWords(16_832, 16_000, true)).toEqual({ text: 'Dropping here goes 832 over budget', over: true })
    expect(ghostWords(16_832, 16_000, false).text).toBe('Dropping here goes about 832 over budget')
    expect(ghostWords(15_000, 16_000, true)).toEqual({ text: 'Dropping here leaves 1,000 free', over: false })
  })

  it.each([
    [16_000, 200_000, '8 % of the context window'],
    [1000, 200_000, '0.5 % of the context window'],
    [33_333, 200_000, '17 % of the context window'],
    [280_000, 200_000, '140 % of the context window'],
  ])('says %i of %i', (budget, window, words) => {
    expect(windowWords(budget, window)).toBe(words)
  })

  it('tells all of it to those who do not see it', () => {
    const ghost = ghostWords(10_832, 10_000, true)
    const bar = barOf({ budget: 10_000, window: 200_000, cards, overhead: 0, ghost: { at: 2, tokens: 832 } })
    expect(barLabel(bar, 10_000, ghost)).toBe('Budget 10,000 tokens: 10,000 used, 0 free; by card 1: 3,000, 2: 7,000; Dropping here goes 832 over budget')
  })
})
