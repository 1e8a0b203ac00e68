//! Hits as they are shown: in groups, with who said it and when in words, cut at what was looked for.

import type { SearchAnswer } from '../api/generated/SearchAnswer'
import type { SearchHit } from '../api/generated/SearchHit'
import { count, date, relative, timeOfDay } from './format'
import { codePointToUnit } from './offsets'

export interface HitGroup {
  name: string
  hits: SearchHit[]
}

/** Messages, keepits and sessions apart, each best first; the group with the best hit of all comes first among equals. */
export function groupsOfKind(hits: readonly SearchHit[]): HitGroup[] {
  const groups: HitGroup[] = [
    { name: 'Messages', hits: hits.filter((hit) => hit.kind !== 'keepit' && hit.kind !== 'session') },
    { name: 'Keepits', hits: hits.filter((hit) => hit.kind === 'keepit') },
    { name: 'Sessions', hits: hits.filter((hit) => hit.kind === 'session') },
  ]
  return groups.filter((group) => group.hits.length > 0)
}

export interface SessionHits {
  session: SearchHit
  hits: SearchHit[]
}

/** Hits by session, in the order of each session's best. */
export function groupsOfSession(hits: readonly SearchHit[]): SessionHits[] {
  const groups = new Map<string, SessionHits>()
  for (const hit of hits) {
    const group = groups.get(hit.session_id)
    if (group) group.hits.push(hit)
    else groups.set(hit.session_id, { session: hit, hits: [hit] })
  }
  return [...groups.values()]
}

export interface TextPart {
  text: string
  sought: boolean
}

/** A text cut at the places that were looked for, which count characters. */
export function partsOf(text: string, highlights: readonly (readonly [number, number])[]): TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (const [first, last] of highlights) {
    const [start, end] = [codePointToUnit(text, first), codePointToUnit(text, last)]
    if (start > at) parts.push({ text: text.slice(at, start), sought: false })
    if (end > start) parts.push({ text: text.slice(start, end), sought: true })
    at = Math.max(at, end)
  }
  if (at < text.length) parts.push({ text: text.slice(at), sought: false })
  return parts
}

/** Who says it: `You`, `Claude`, `thinking`, `tool result`, `sub-agent`. */
export function speaker(hit: SearchHit): string {
  if (hit.agent_id != null) return 'sub-agent'
  switch (hit.kind) {
    case 'thinking':
      return 'thinking'
    case 'tool_input':
      return 'tool call'
    case 'tool_output':
      return 'tool result'
    case 'summary':
      return 'summary'
    case 'version':
      return `version ${hit.version_id ?? ''}`.trim()
    case 'session':
      return 'session'
    case 'notice':
      return 'client'
    default:
      return hit.role === 'user' ? 'You' : hit.role === 'assistant' ? 'Claude' : 'client'
  }
}

/** The message's number as the conversation counts, from 1: its own, or of the call that started its sub-agent. */
export function numberOf(hit: SearchHit): number | undefined {
  const index = hit.agent_id == null || hit.parent_index == null ? hit.index : hit.parent_index
  return index == null ? undefined : index + 1
}

/** `Claude, 239, 14:06` of today, `You, 88, 29 Dec` of others. */
export function placeOf(hit: SearchHit, now: Date = new Date()): string {
  const number = numberOf(hit)
  const who = hit.kind === 'keepit' ? (number === undefined ? 'keepit' : `message ${count(number)}`) : speaker(hit)
  const parts = [who]
  if (hit.kind !== 'keepit' && number !== undefined) parts.push(count(number))
  if (hit.timestamp != null) parts.push(new Date(hit.timestamp).toDateString() === now.toDateString() ? timeOfDay(hit.timestamp) : hit.kind === 'session' ? relative(hit.timestamp, now) : date(hit.timestamp, now))
  return (hit.kind === 'session' ? parts.slice(1) : parts).join(', ')
}

/** `27 in 11 ms`, `no passage has every word, 120 some`. */
export function summaryOf(answer: SearchAnswer): string {
  const time = `${answer.elapsed_ms < 10 ? answer.elapsed_ms.toFixed(1) : String(Math.round(answer.elapsed_ms))} ms`
  if (answer.total === 0) return `nothing in ${time}`
  if (!answer.every_word) return `none with every word, ${count(answer.total)} with some`
  // Those with some of the words follow.
  if (answer.hits.length > answer.total) return `${count(answer.total)} with every word in ${time}`
  return `${count(answer.total)} in ${time}`
}
