import { describe, expect, it } from 'vitest'
import { codePointToUnit, placeParts, unitToCodePoint } from './offsets'

describe('positions', () => {
  it.each([
    ['abc', 2, 2],
    ['a😀b', 2, 3],
    ['😀😀', 1, 2],
    ['é\u0301x', 2, 2],
    ['abc', 9, 3],
  ])('in %j, character %i is unit %i', (text, character, unit) => {
    expect(codePointToUnit(text, character)).toBe(unit)
  })

  it('go there and back for every character', () => {
    const text = 'a😀b👩‍👩‍👧c\ud800d'
    for (let character = 0; character <= [...text].length; character++) {
      expect(unitToCodePoint(text, codePointToUnit(text, character))).toBe(character)
    }
  })
})

describe('places of parts', () => {
  it('are found in order, between blank lines', () => {
    const text = 'one\n\nBash\ncommand: one two\n\none'
    expect(placeParts(text, ['one', 'one']), 'words within another part are not the part').toEqual([0, text.length - 3])
  })

  it('are unknown for what does not stand there', () => {
    expect(placeParts('abc', ['x', '', 'abc'])).toEqual([undefined, undefined, 0])
  })
})
