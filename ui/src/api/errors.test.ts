import { describe, expect, it } from 'vitest'
import { EngineError, toEngineError, wordsOf } from './errors'

describe('wording of failures', () => {
  it.each([
    ['no space left on device', 'No space left on device.'],
    ['/tmp/a.jsonl: permission denied', '/tmp/a.jsonl: permission denied.'],
    ['`x` is not a link of the web', '`x` is not a link of the web.'],
    ['v002 is used by a composition', 'v002 is used by a composition.'],
    ['keepit_set: weight must be 0 to 1', 'keepit_set: weight must be 0 to 1.'],
    ['what now?', 'What now?'],
  ])('%s becomes a sentence, names keep their letters', (message, sentence) => {
    expect(wordsOf(new EngineError({ kind: 'io', message })).message).toBe(sentence)
  })

  it('offers to try again only where that can help', () => {
    expect(wordsOf({ kind: 'io', message: 'x' }).retry).toBe(true)
    expect(wordsOf({ kind: 'conflict', message: 'x' }).retry, 'the same request meets the same conflict').toBe(false)
  })

  it('takes what was thrown by others as a defect, not as nothing', () => {
    expect(toEngineError('boom')).toMatchObject({ kind: 'internal', message: 'boom' })
    expect(toEngineError({ kind: 'strange', message: 'x' }).kind, 'an unknown kind is not passed on').toBe('internal')
  })
})
