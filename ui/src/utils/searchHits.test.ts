import { describe, expect, it } from 'vitest'
import { aHit, anAnswer } from '../testing/builders'
import { activeFilters, isEmpty, requestOf, without } from './searchFilters'
import { groupsOfKind, groupsOfSession, numberOf, partsOf, placeOf, summaryOf } from './searchHits'

describe('hits', () => {
  it('are cut at what was looked for, counting characters and not units', () => {
    expect(partsOf('🙂 a token', [[4, 9]])).toEqual([
      { text: '🙂 a ', sought: false },
      { text: 'token', sought: true },
    ])
    expect(partsOf('plain', [])).toEqual([{ text: 'plain', sought: false }])
    expect(partsOf('ab', [[0, 1], [1, 2]])).toEqual([{ text: 'a', sought: true }, { text: 'b', sought: true }])
  })

  it('stand in groups of their kind, and under their session', () => {
    const hits = [aHit({ kind: 'keepit' }), aHit({ kind: 'session', session_id: 'b' }), aHit({ kind: 'tool_output' }), aHit({ index: 4 })]
    expect(groupsOfKind(hits).map((group) => [group.name, group.hits.length])).toEqual([['Messages', 2], ['Keepits', 1], ['Sessions', 1]])
    expect(groupsOfSession(hits).map((group) => group.hits.length)).toEqual([3, 1])
  })

  it('say who, which message and when', () => {
    const now = new Date('2026-01-20T15:00:00Z')
    expect(placeOf(aHit({ role: 'assistant', index: 238 }), now)).toMatch(/^Claude, 239, \d\d:\d\d$/)
    expect(placeOf(aHit({ index: 87, timestamp: '2025-12-29T10:00:00.000Z' }), now)).toMatch(/^You, 88, 29 Dec/)
    expect(placeOf(aHit({ kind: 'keepit', weight: 0.75, index: 230, timestamp: '2025-12-29T10:00:00.000Z' }), now)).toMatch(/^message 231, 29 Dec/)
  })

  it('of a sub-agent lead to the call that started it', () => {
    expect(numberOf(aHit({ agent_id: 'a1', index: 3, parent_index: 20 }))).toBe(21)
    expect(numberOf(aHit({ kind: 'session', index: null }))).toBeUndefined()
  })

  it('are summed up in words', () => {
    expect(summaryOf(anAnswer({ total: 27 }))).toBe('27 in 11 ms')
    expect(summaryOf(anAnswer({ total: 0, elapsed_ms: 1.23 }))).toBe('nothing in 1.2 ms')
    expect(summaryOf(anAnswer({ total: 1200, every_word: false }))).toBe('none with every word, 1,200 with some')
    expect(summaryOf(anAnswer({ hits: [aHit(), aHit()], total: 1 })), 'a list that is longer than its figure says why').toBe('1 with every word in 11 ms')
  })
})

describe('filters', () => {
  it('are chips in words, and can be taken away', () => {
    const filters = { project: { id: 'p', name: 'my-app' }, days: 90, keepitMin: 0.75 }
    expect(activeFilters(filters).map((filter) => filter.label)).toEqual(['in my-app', 'last 90 days', 'keepit ≥ 0.75'])
    expect(activeFilters(without(filters, 'days')).map((filter) => filter.name)).toEqual(['project', 'keepitMin'])
  })

  it('are asked of the engine in its words', () => {
    expect(requestOf('race', { days: 7, kind: 'said', role: 'user' }, 40)).toMatchObject({ query: 'race', since: '7d', kinds: ['text', 'summary'], role: 'user', limit: 40, typing: true, at_once: true })
  })

  it('alone are something to look for', () => {
    expect(isEmpty(' ', {})).toBe(true)
    expect(isEmpty(' ', { role: 'tool' })).toBe(false)
  })
})
