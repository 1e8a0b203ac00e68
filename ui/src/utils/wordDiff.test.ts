import { describe, expect, it } from 'vitest'
import { aroundDifferences, wordParts } from './wordDiff'

describe('texts compared by words', () => {
  it('say what only one has, and join to both', () => {
    const parts = wordParts('use one lock per tab', 'use one lock per window now')
    expect(parts.filter((part) => part.kind !== 'removed').map((part) => part.text).join('')).toBe('use one lock per window now')
    expect(parts.filter((part) => part.kind !== 'added').map((part) => part.text).join('')).toBe('use one lock per tab')
    expect(parts.find((part) => part.kind === 'removed')?.text.trim()).toBe('tab')
  })

  it('are shortened where both say the same, never where they differ', () => {
    const long = Array.from({ length: 100 }, (_, at) => `word${String(at)}`).join(' ')
    const shown = aroundDifferences(wordParts(`${long} old ${long}`, `${long} new ${long}`), 5)
    expect(shown.filter((part) => part.kind !== 'same').map((part) => part.text.trim())).toEqual(['old', 'new'])
    const text = shown.map((part) => part.text).join('')
    expect(text.length).toBeLessThan(200)
    expect(text).toContain('word99 old')
    expect(text.endsWith('… '), 'nothing follows behind the last difference but its surroundings').toBe(true)
  })
})
