//! The list of sessions as rows: months with their sums, and the sessions in them.

import type { SessionSort } from '../api/generated/SessionSort'
import type { SessionSummary } from '../api/generated/SessionSummary'
import { month } from './format'

export interface MonthRow {
  kind: 'month'
  key: string
  label: string
  sessions: number
  tokens: number
}

export interface SessionRowItem {
  kind: 'session'
  key: string
  session: SessionSummary
  /** Position among the sessions alone. */
  position: number
}

export type ListRow = MonthRow | SessionRowItem

/** Rows in the order of the sessions; months only where the order is by time, and where they are wanted. */
export function sessionRows(sessions: readonly SessionSummary[], sort: SessionSort, months = true): ListRow[] {
  const byTime = months && (sort === 'newest' || sort === 'oldest')
  const rows: ListRow[] = []
  let current: MonthRow | undefined
  sessions.forEach((session, position) => {
    if (byTime) {
      const label = session.last_timestamp == null ? 'Without a date' : month(session.last_timestamp)
      if (current?.label !== label) {
        current = { kind: 'month', key: `month:${label}:${String(position)}`, label, sessions: 0, tokens: 0 }
        rows.push(current)
      }
      current.sessions += 1
      current.tokens += session.tokens
    }
    rows.push({ kind: 'session', key: session.session_id, session, position })
  })
  return rows
}
