import { describe, expect, it } from 'vitest'
import { dollars } from './money'
import { EMPTY_MODEL, mergedModels, modelFault, ownModelOf, typedModel } from './ownModels'

describe('a model of one’s own', () => {
  const typed = { ...EMPTY_MODEL, id: ' qwen3:32b ', window: '32k', input: '0,5' }

  it('is written as the setting holds it, and read back as it was', () => {
    expect(ownModelOf(typed)).toEqual({ id: 'qwen3:32b', contextWindow: 32_000, inputPrice: 0.5 })
    expect(ownModelOf(typedModel({ id: 'a', label: 'A', contextWindow: 8000, inputPrice: 0, outputPrice: 2 })), 'free is a price').toEqual({ id: 'a', label: 'A', contextWindow: 8000, inputPrice: 0, outputPrice: 2 })
  })

  it('stays half typed when the setting changes, and takes the place of the one that it changes', () => {
    const half = { ...typed, window: '' }
    const other = { id: 'b', contextWindow: 8000 }
    expect(mergedModels([ownModelOf(typed), other], [half]).map((row) => [row.id.trim(), row.window])).toEqual([['b', '8,000'], ['qwen3:32b', '']])
    expect(mergedModels([other], [typed]), 'what is whole is as the setting has it').toHaveLength(1)
  })

  it('says what it lacks', () => {
    expect(modelFault(typed)).toBeUndefined()
    expect(modelFault(EMPTY_MODEL)).toMatch(/name/)
    expect(modelFault({ ...typed, window: '500' })).toMatch(/1,000 tokens/)
    expect(modelFault({ ...typed, output: 'cheap' })).toMatch(/to write/)
  })
})

describe('dollars', () => {
  it.each([[0, 'free'], [0.21, '$0.21'], [12.5, '$12.50'], [0.0042, '$0.004'], [1234, '$1,234.00']])('%d is %s', (value, text) => expect(dollars(value)).toBe(text))
})
