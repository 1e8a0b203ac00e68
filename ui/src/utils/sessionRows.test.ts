import { describe, expect, it } from 'vitest'
import { aSession } from '../testing/builders'
import { initials } from './initials'
import { sessionRows } from './sessionRows'

describe('rows of the session list', () => {
  const sessions = [
    aSession({ session_id: 'a', last_timestamp: '2026-01-20T10:00:00.000Z', tokens: 100 }),
    aSession({ session_id: 'b', last_timestamp: '2026-01-02T10:00:00.000Z', tokens: 50 }),
    aSession({ session_id: 'c', last_timestamp: '2025-12-31T10:00:00.000Z', tokens: 7 }),
    aSession({ session_id: 'd', last_timestamp: null, tokens: 1 }),
  ]

  it('have a head for each month with its count and sum', () => {
    const months = sessionRows(sessions, 'newest').filter((row) => row.kind === 'month')
    expect(months.map((row) => [row.label, row.sessions, row.tokens])).toEqual([
      ['January 2026', 2, 150],
      ['December 2025', 1, 7],
      ['Without a date', 1, 1],
    ])
  })

  it('have no months where the order is not by time', () => {
    expect(sessionRows(sessions, 'largest').every((row) => row.kind === 'session')).toBe(true)
  })
})

describe('letters of projects', () => {
  it('are different for different projects while there are letters left', () => {
    expect(initials(['my-app', 'mail-archive', 'api', 'apiServer', 'x'])).toEqual(['MA', 'MI', 'AP', 'AS', 'X'])
  })
})
