import { describe, expect, it } from 'vitest'
import { dropKinds } from './dropKinds'
import { sourceWords } from './sourceWords'

describe('what a session comes from', () => {
  it('is not said of transcripts, and says of a copy that it is one', () => {
    expect(sourceWords({ format: 'claude-code', paired_with: null })).toBeUndefined()
    expect(sourceWords({ format: 'history', paired_with: null })?.chip).toBe('prompts only')
    expect(sourceWords({ format: 'claude-export', paired_with: 'a' })?.title).toContain('not counted')
  })
})

describe('what is dragged', () => {
  it('counts texts as what may be exports', () => {
    expect(dropKinds(['/a/2026-01-20-x.txt', '/a/conversations.json', '/a/z.png']).map((kind) => [kind.count, kind.what, kind.taken])).toEqual([
      [2, 'texts', true],
      [1, 'other file', false],
    ])
  })
})
