//! What Claude Code deletes soon, in words.

import type { Expiring } from '../api/generated/Expiring'
import { counted } from './format'

export interface ExpiringWords {
  /** `3 sessions are deleted by Claude Code within 2 days`. */
  head: string
  /** `and are not archived yet: Upgrade to Express 5 and 2 in infra.` */
  rest: string
  count: number
}

/** Nothing when all of them are archived. */
export function expiringWords(expiring: Expiring | undefined): ExpiringWords | undefined {
  if (expiring === undefined || expiring.unarchived === 0) return undefined
  const lost = expiring.sessions.filter((session) => !session.archived)
  const [first, ...others] = lost
  if (first === undefined) return undefined
  const count = expiring.unarchived
  const last = Math.max(...lost.map((session) => session.days_left))
  const when = last === 0 ? 'when it starts the next time' : `within ${counted(last, 'day')}`
  const more = count - 1
  const projects = new Set(others.map((session) => session.project))
  const [project] = projects
  const where = projects.size === 1 && project !== undefined ? `in ${project}` : 'more'
  return {
    head: `${counted(count, 'session')} ${count === 1 ? 'is' : 'are'} deleted by Claude Code ${when}`,
    rest: `and ${count === 1 ? 'is' : 'are'} not archived yet: ${first.title}${more === 0 ? '' : ` and ${String(more)} ${where}`}.`,
    count,
  }
}

/** `expires in 2 days`. */
export function expiresIn(days: number): string {
  return days === 0 ? 'expires now' : `expires in ${counted(days, 'day')}`
}
