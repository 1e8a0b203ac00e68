//! What is asked for suggestions, and the parts of a score in words.

import type { SuggestionParts } from '../api/generated/SuggestionParts'
import type { SuggestRequest } from '../api/generated/SuggestRequest'
import type { Draft } from './compositionDraft'
import { percent } from './format'
import { parseTokens } from './tokens'

const MOST = 12

/** `a, b` or lines as a list. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((part) => part.trim()).filter((part) => part !== ''))]
}

/** Nothing while the budget is no figure. */
export function suggestRequest(draft: Pick<Draft, 'budget' | 'task'>, given: { folder: string | undefined; files: string[]; topics: string[] }): SuggestRequest | undefined {
  const budget = parseTokens(draft.budget)
  if (budget === undefined || budget < 1) return undefined
  return { folder: given.folder ?? null, files: given.files, topics: given.topics, task: draft.task.trim() === '' ? null : draft.task.trim(), budget, limit: MOST }
}

const PARTS: Record<keyof SuggestionParts, string> = { relevance: 'task', files: 'files', folder: 'folder', topics: 'topics', recency: 'recency', branch: 'branch' }

/** `task 90 %, folder 100 %`: what a score is made of. */
export function partWords(parts: SuggestionParts): string {
  return (Object.keys(PARTS) as (keyof SuggestionParts)[]).filter((part) => parts[part] > 0).map((part) => `${PARTS[part]} ${percent(parts[part], 0)}`).join(', ')
}
