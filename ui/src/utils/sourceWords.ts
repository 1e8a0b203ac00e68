//! What a session comes from, in words; nothing is said of the client's own transcripts.

import type { SessionSummary } from '../api/generated/SessionSummary'

export interface SourceWords {
  chip: string
  title: string
}

const WORDS: Record<string, SourceWords> = {
  'claude-export': { chip: '/export', title: 'An /export of Claude Code: tools are shortened, times are missing' },
  'plain-export': { chip: 'text', title: 'A text of two speakers' },
  'markdown-export': { chip: 'Markdown', title: 'A Markdown text of two speakers' },
  'claude-ai': { chip: 'claude.ai', title: 'A conversation of claude.ai' },
  history: { chip: 'prompts only', title: 'Only what you typed: Claude Code has deleted the rest' },
  'memory-context': { chip: 'summary', title: 'From a MEMORY-CONTEXT folder: what had been said elsewhere is missing' },
}

export function sourceWords(summary: Pick<SessionSummary, 'format' | 'paired_with'>): SourceWords | undefined {
  const words = WORDS[summary.format]
  if (words === undefined || summary.paired_with == null) return words
  return { chip: `${words.chip}, paired`, title: `${words.title}. Its transcript is in memory and preferred; this copy is not counted` }
}
