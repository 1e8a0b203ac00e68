import { describe, expect, it } from 'vitest'
import { aKeepit } from '../testing/builders'
import { carriedPassages } from './carriedKeepits'
import { freeName, nameFault, nameFrom } from './compositionName'
import { markdownPieces } from './markdownPieces'
import { insertionAt, placeWords } from './timeline'
import { parseTokens, ratio, tidyTokens } from './tokens'

describe('figures', () => {
  it.each([
    ['16000', 16_000],
    ['16,000', 16_000],
    ['1 000 000', 1_000_000],
    [' 16k ', 16_000],
    ['1.5M', 1_500_000],
    ['0', 0],
  ])('reads %s', (text, value) => expect(parseTokens(text)).toBe(value))

  it.each(['', 'much', '-5', '1.5', '16,00', '1e9', '16kk', '99999999999999999999'])('does not read %j', (text) => expect(parseTokens(text)).toBeUndefined())

  it('writes what was typed as figures are written, and leaves the rest', () => {
    expect(tidyTokens('16k')).toBe('16,000')
    expect(tidyTokens('16kk')).toBe('16kk')
  })

  it('says ratios', () => {
    expect([ratio(100_000, 4545), ratio(9, 2), ratio(8, 2), ratio(5, 0)]).toEqual(['22:1', '4.5:1', '4:1', '–'])
  })
})

describe('names', () => {
  it.each(['feature-x-context', 'Bug fix 2.1', 'été', '日本語', 'console', 'com'])('takes %s', (name) => expect(nameFault(name)).toBeUndefined())
  it.each(['', '../../x', 'a/b', 'C:\\x', ' lead', 'tail.', '.hidden', 'CON', 'nul.txt', 'what?', 'x'.repeat(101)])('refuses %j with a reason', (name) => expect(nameFault(name)).toMatch(/\.$/))

  it('makes a name of any title', () => {
    expect(nameFrom('Fix token refresh race in auth middleware, and more of it')).toBe('fix-token-refresh-race-in-auth')
    for (const title of ['', '../../x', '???', 'con', 'x'.repeat(300), '日本語のタイトル', 'a  b']) expect(nameFault(nameFrom(title)), title).toBeUndefined()
  })

  it('finds a free one', () => {
    expect(freeName('x', [])).toBe('x')
    expect(freeName('x', ['X', 'x-2'])).toBe('x-3')
    expect(freeName('x-2', ['x-2'])).toBe('x-3')
  })
})

describe('places on the timeline', () => {
  const cards = [
    { left: 0, right: 100 },
    { left: 110, right: 210 },
  ]
  it.each([
    [-20, 0],
    [49, 0],
    [51, 1],
    [159, 1],
    [161, 2],
    [900, 2],
  ])('puts what is at %i before card %i', (x, at) => expect(insertionAt(x, cards)).toBe(at))

  it('names them', () => {
    expect([placeWords(0, 0), placeWords(0, 3), placeWords(2, 3), placeWords(3, 3)]).toEqual(['as the first', 'before 1', 'between 2 and 3', 'after 3'])
  })
})

describe('keepits in a composed text', () => {
  it('are found by their words, with the syntax before them', () => {
    const marker = aKeepit({ marker_id: 'm1', content: 'never log a token', message_index: 4 })
    const text = 'So: ##keepit0.90## never log a token'
    expect(carriedPassages(text, [marker], [4])).toEqual([{ markerId: 'm1', weight: marker.weight, start: 4, contentStart: 19, end: text.length }])
    expect(carriedPassages('never log a token', [marker], [4])[0]).toMatchObject({ start: 0, contentStart: 0 })
  })

  it('are not those of other messages, nor those whose words are gone', () => {
    const marker = aKeepit({ content: 'never log a token', message_index: 4 })
    expect(carriedPassages('never log a token', [marker], [5])).toEqual([])
    expect(carriedPassages('log tokens', [marker], [4])).toEqual([])
  })
})

describe('long Markdown', () => {
  it('is cut at blank lines outside of code, and nothing of it is lost', () => {
    const code = `\`\`\`js\n${'let a = 1\n\n'.repeat(600)}\`\`\``
    const text = `${'A paragraph of words.\n\n'.repeat(400)}${code}\n\nEnd.`
    const pieces = markdownPieces(text)
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.join('\n')).toBe(text)
    for (const piece of pieces) expect((piece.match(/```/g) ?? []).length % 2, 'a code block is in one piece').toBe(0)
  })
})
