//! The filters of a search as chips, and as the engine is asked for them.

import type { Role } from '../api/generated/Role'
import type { SearchKind } from '../api/generated/SearchKind'
import type { SearchRequest } from '../api/generated/SearchRequest'

export interface SearchFilters {
  project?: { id: string; name: string }
  /** Days back from now. */
  days?: number
  kind?: KindChoice
  role?: Role
  branch?: string
  keepitMin?: number
}

export type FilterName = keyof SearchFilters
export type KindChoice = 'said' | 'thinking' | 'call' | 'result' | 'keepit' | 'session' | 'version'

export const KIND_CHOICES: readonly { value: KindChoice; label: string; kinds: SearchKind[] }[] = [
  { value: 'said', label: 'Words', kinds: ['text', 'summary'] },
  { value: 'thinking', label: 'Thinking', kinds: ['thinking'] },
  { value: 'call', label: 'Tool calls', kinds: ['tool_input'] },
  { value: 'result', label: 'Tool results', kinds: ['tool_output'] },
  { value: 'keepit', label: 'Keepits', kinds: ['keepit'] },
  { value: 'session', label: 'Session titles', kinds: ['session'] },
  { value: 'version', label: 'Versions', kinds: ['version'] },
]
export const ROLE_CHOICES: readonly { value: Role; label: string }[] = [
  { value: 'user', label: 'You' },
  { value: 'assistant', label: 'Claude' },
  { value: 'tool', label: 'Tools' },
  { value: 'system', label: 'The client' },
]
export const DAY_CHOICES: readonly { value: number; label: string }[] = [
  { value: 1, label: 'last day' },
  { value: 7, label: 'last 7 days' },
  { value: 30, label: 'last 30 days' },
  { value: 90, label: 'last 90 days' },
  { value: 365, label: 'last year' },
]
export const WEIGHT_CHOICES: readonly number[] = [1, 0.9, 0.75, 0.5, 0.25]

/** The filters that are set, in the order of their chips, in words. */
export function activeFilters(filters: SearchFilters): { name: FilterName; label: string }[] {
  const found: { name: FilterName; label: string }[] = []
  if (filters.project) found.push({ name: 'project', label: `in ${filters.project.name}` })
  if (filters.days !== undefined) found.push({ name: 'days', label: DAY_CHOICES.find((choice) => choice.value === filters.days)?.label ?? `last ${String(filters.days)} days` })
  if (filters.kind) found.push({ name: 'kind', label: KIND_CHOICES.find((choice) => choice.value === filters.kind)?.label ?? filters.kind })
  if (filters.role) found.push({ name: 'role', label: `by ${ROLE_CHOICES.find((choice) => choice.value === filters.role)?.label ?? filters.role}` })
  if (filters.branch !== undefined) found.push({ name: 'branch', label: `on ${filters.branch}` })
  if (filters.keepitMin !== undefined) found.push({ name: 'keepitMin', label: `keepit ≥ ${filters.keepitMin.toFixed(2)}` })
  return found
}

/** The filters without one. */
export function without(filters: SearchFilters, name: FilterName): SearchFilters {
  return Object.fromEntries(Object.entries(filters).filter(([each]) => each !== name))
}

/** Whether there is anything to look for. */
export function isEmpty(text: string, filters: SearchFilters): boolean {
  return text.trim() === '' && activeFilters(filters).length === 0
}

/** What the engine is asked. */
export function requestOf(text: string, filters: SearchFilters, limit: number): SearchRequest {
  return {
    query: text,
    typing: true,
    at_once: true,
    limit,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    project: filters.project?.id ?? null,
    since: filters.days === undefined ? null : `${String(filters.days)}d`,
    kinds: KIND_CHOICES.find((choice) => choice.value === filters.kind)?.kinds ?? null,
    role: filters.role ?? null,
    branch: filters.branch ?? null,
    keepit_min: filters.keepitMin ?? null,
  }
}
