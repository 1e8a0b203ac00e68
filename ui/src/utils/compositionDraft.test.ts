import { describe, expect, it } from 'vitest'
import { afterStep, draftFrom, draftOf, EMPTY_DRAFT, historyOf, redone, requestOf, typingEnded, undone, withStep, type Draft, type DraftStep, type NewCard } from './compositionDraft'

const session = (sessionId: string): NewCard => ({ sessionId, title: `Session ${sessionId}`, tokens: 1000, lastTimestamp: null })
const with3 = afterStep(EMPTY_DRAFT, { step: 'add', sessions: [session('a'), session('b'), session('c')] })
const order = (draft: Draft): string => draft.cards.map((card) => card.sessionId).join('')
const run = (...steps: DraftStep[]): ReturnType<typeof historyOf> => steps.reduce(withStep, historyOf(EMPTY_DRAFT))

describe('steps', () => {
  it('puts sessions where they were dropped', () => {
    expect(order(afterStep(with3, { step: 'add', sessions: [session('x'), session('y')], at: 1 }))).toBe('axybc')
  })

  it('moves a session that is there already, with what was set on it', () => {
    const set = afterStep(with3, { step: 'share', sessionId: 'c', share: '400' })
    const next = afterStep(set, { step: 'add', sessions: [session('c')], at: 0 })
    expect(order(next)).toBe('cab')
    expect(next.cards[0]?.share, 'a session is never on the timeline twice').toBe('400')
  })

  it.each([
    ['a', 2, 'bca'],
    ['c', 0, 'cab'],
    ['b', 99, 'acb'],
    ['a', -1, 'abc'],
  ])('moves %s to %i', (sessionId, to, expected) => {
    expect(order(afterStep(with3, { step: 'move', sessionId, to }))).toBe(expected)
  })

  it('gives the same draft back when nothing changes, so that nothing is asked again', () => {
    for (const step of [
      { step: 'move', sessionId: 'a', to: 0 },
      { step: 'remove', sessionId: 'unknown' },
      { step: 'version', sessionId: 'a', version: 'auto' },
      { step: 'set', values: { budget: with3.budget } },
      { step: 'add', sessions: [] },
    ] as DraftStep[]) {
      expect(afterStep(with3, step), step.step).toBe(with3)
    }
  })
})

describe('history', () => {
  it('undoes and redoes each step', () => {
    const made = run({ step: 'add', sessions: [session('a'), session('b')] }, { step: 'move', sessionId: 'b', to: 0 }, { step: 'remove', sessionId: 'a' })
    expect(order(made.present)).toBe('b')
    expect(order(undone(made).present)).toBe('ba')
    expect(order(undone(undone(made)).present)).toBe('ab')
    expect(order(redone(undone(undone(made))).present)).toBe('ba')
    expect(undone(historyOf(with3)).present, 'without a past it stays').toBe(with3)
  })

  it('takes typing in one field as one step', () => {
    const name = (text: string): DraftStep => ({ step: 'set', values: { name: text } })
    const typed = run(name('f'), name('fe'), name('fea'), { step: 'set', values: { budget: '8' } }, { step: 'set', values: { budget: '8k' } })
    expect(undone(typed).present).toMatchObject({ name: 'fea', budget: EMPTY_DRAFT.budget })
    expect(undone(undone(typed)).present.name).toBe('')
    const again = withStep(typingEnded(run(name('f'))), name('fx'))
    expect(undone(again).present.name, 'a field that was left begins a new step').toBe('f')
  })

  it('forgets the undone future at the next step', () => {
    const made = withStep(undone(run({ step: 'add', sessions: [session('a')] })), { step: 'add', sessions: [session('b')] })
    expect(order(redone(made).present)).toBe('b')
  })
})

describe('request', () => {
  it('carries order, versions and shares by hand', () => {
    const draft = [
      { step: 'version', sessionId: 'b', version: 'v002' },
      { step: 'share', sessionId: 'b', share: '3.2k' },
      { step: 'set', values: { allocation: 'by_length', jsonl: false, budget: '12k' } },
    ].reduce((before, step) => afterStep(before, step as DraftStep), with3)
    expect(requestOf(draft, { name: 'x', replace: false })).toEqual({
      name: 'x',
      budget: 12_000,
      allocation: 'by_length',
      task: null,
      order: 'given',
      format: 'markdown',
      replace: false,
      components: [
        { session: 'a', version: 'auto', tokens: null, settings: null },
        { session: 'b', version: 'v002', tokens: 3200, settings: null },
        { session: 'c', version: 'auto', tokens: null, settings: null },
      ],
    })
  })

  it.each([
    ['a budget that is no figure', afterStep(with3, { step: 'set', values: { budget: 'much' } })],
    ['a budget of 0', afterStep(with3, { step: 'set', values: { budget: '0' } })],
    ['a share that is no figure', afterStep(with3, { step: 'share', sessionId: 'a', share: 'half' })],
    ['shares by relevance and no task', afterStep(with3, { step: 'set', values: { allocation: 'by_relevance' } })],
    ['shares by hand of which one is missing', afterStep(with3, { step: 'set', values: { allocation: 'manual' } })],
    ['no session', EMPTY_DRAFT],
  ])('asks nothing with %s', (_why, draft) => {
    expect(requestOf(draft, { name: 'x', replace: false })).toBeUndefined()
  })

  it('begins shares by hand with those that there are, and keeps what was typed', () => {
    const typed = afterStep(with3, { step: 'share', sessionId: 'b', share: '3,200' })
    const byHand = afterStep(typed, { step: 'by_hand', shares: new Map([['a', 5000], ['b', 1], ['c', 700]]) })
    expect(byHand.allocation).toBe('manual')
    expect(byHand.cards.map((card) => card.share)).toEqual(['5,000', '3,200', '700'])
  })

  it('takes the order that the engine gave by time, as no step of the user’s; a card that is moved then stands by hand', () => {
    const byTime = withStep(historyOf(with3), { step: 'set', values: { order: 'by_time', task: 'x' } })
    const sorted = withStep(byTime, { step: 'sorted', ids: ['c', 'a', 'b'] })
    expect(order(sorted.present)).toBe('cab')
    expect(order(undone(sorted).present), 'undo goes to before the choice').toBe('abc')
    expect(withStep(sorted, { step: 'sorted', ids: ['c', 'a'] }).present, 'an answer to another draft is none').toBe(sorted.present)
    expect(withStep(sorted, { step: 'move', sessionId: 'b', to: 0 }).present.order).toBe('given')
  })

  it('comes back as the same draft from a composition', () => {
    const draft = afterStep(afterStep(with3, { step: 'set', values: { name: 'x', jsonl: false } }), { step: 'share', sessionId: 'a', share: '4,000' })
    const request = requestOf(draft, { name: 'x', replace: false })
    const components = draft.cards.map((card) => ({ session_id: card.sessionId, title: card.title, original_tokens: card.tokens, last_timestamp: null }))
    expect(request && draftOf(request, components, 'x')).toEqual(draft)
  })

  it('asks no model because one was asked before', () => {
    const settings = { mode: 'uniform', compaction_ratio: 10, skip_first_messages: 0, keepit_mode: 'decay', engine: 'anthropic', model: 'sonnet', max_cost: 5 } as const
    const draft = draftOf({ name: 'x', budget: 1000, components: [{ session: 'a', version: 'new', settings }], replace: false }, [], 'x')
    expect(draft.cards[0]?.settings).toMatchObject({ compaction_ratio: 10, engine: null, model: null, max_cost: null })
  })
})

describe('storage', () => {
  it('gives back what was stored', () => {
    expect(draftFrom(JSON.parse(JSON.stringify(with3)))).toEqual(with3)
  })

  it.each([[null], ['text'], [{ cards: 'no', budget: 5, allocation: 'odd' }], [{ cards: [null, {}, { sessionId: 4 }] }]])('begins anew where %j is no draft', (stored) => {
    expect(draftFrom(stored)).toEqual(EMPTY_DRAFT)
  })
})
