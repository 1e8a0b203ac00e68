//! Objects of the wire for tests, complete but for what the test says.

import type { Component } from '../api/generated/Component'
import type { Composition } from '../api/generated/Composition'
import type { CompositionPreview } from '../api/generated/CompositionPreview'
import type { KeepitMarker } from '../api/generated/KeepitMarker'
import type { IngestedFile } from '../api/generated/IngestedFile'
import type { IngestedSession } from '../api/generated/IngestedSession'
import type { IngestReport } from '../api/generated/IngestReport'
import type { IngestTotals } from '../api/generated/IngestTotals'
import type { MessageView } from '../api/generated/MessageView'
import type { SearchAnswer } from '../api/generated/SearchAnswer'
import type { SearchHit } from '../api/generated/SearchHit'
import type { Suggestion } from '../api/generated/Suggestion'
import type { SessionSummary } from '../api/generated/SessionSummary'

export function aSession(given: Partial<SessionSummary> = {}): SessionSummary {
  return {
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    project_id: '-home-ada-my-app',
    title: 'Fix token refresh race',
    messages: 10,
    tokens: 1000,
    first_timestamp: '2026-01-20T09:00:00.000Z',
    last_timestamp: '2026-01-20T10:00:00.000Z',
    git_branch: 'main',
    keepits: 0,
    versions: 0,
    agents: 0,
    original_present: true,
    live: false,
    distance: 1,
    issues: 0,
    format: 'claude-code',
    ...given,
  }
}

export function aMessage(given: Partial<MessageView> = {}): MessageView {
  const blocks = given.blocks ?? [{ type: 'text', text: given.text ?? 'Hello.' }]
  return {
    index: 0,
    uuid: `u${String(given.index ?? 0)}`,
    role: 'user',
    kind: 'turn',
    timestamp: '2026-01-20T10:00:00.000Z',
    reply_id: null,
    model: null,
    agent_id: null,
    text: blocks.map((block) => ('text' in block ? block.text : '')).join('\n\n'),
    hash: '',
    tokens: 3,
    keepits: [],
    cut: 0,
    ...given,
    blocks,
  }
}

export function aKeepit(given: Partial<KeepitMarker> = {}): KeepitMarker {
  return {
    marker_id: 'k1',
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    message_uuid: 'u0',
    message_index: 0,
    weight: 0.9,
    text_weight: 0.9,
    content: 'Keep this.',
    start: 0,
    end: 10,
    context: '',
    source: 'text',
    created_at: '2026-01-20T10:00:00.000Z',
    survived_in: [],
    summarized_in: [],
    ...given,
  }
}

const noRepeats = { file: 0, beginning: 0, record: 0, reply: 0, text: 0, imported: 0 }

export function anIngestedFile(given: Partial<IngestedFile> = {}): IngestedFile {
  return { path: '/t/a.jsonl', session_id: 's1', part: 'main', status: 'new', bytes_read: 100, messages: 0, new_unique: 0, repeats: noRepeats, agent_copies: 0, note: null, issues: [], error: null, ...given }
}

export function aReport(given: { sessions?: IngestedSession[]; files?: IngestedFile[]; totals?: Partial<IngestTotals> } = {}): IngestReport {
  const totals: IngestTotals = { sessions: 0, files: 0, messages: 0, new_unique: 0, duplicates: 0, repeats: noRepeats, agent_copies: 0, total_unique: 0, bytes: 0, bytes_read: 0, bytes_stored: 0, keepits: 0, issues: 0, new: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 }
  return { sessions: given.sessions ?? [], files: given.files ?? [], totals: { ...totals, ...given.totals } }
}

export function aComponent(given: Partial<Component> = {}): Component {
  return {
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    title: 'Fix token refresh race',
    last_timestamp: '2026-01-20T10:00:00.000Z',
    order: 0,
    version_id: 'v001',
    reason: 'v001: 94 % of its share, all keepits',
    created: false,
    original_tokens: 100_000,
    original_messages: 400,
    share: 8000,
    share_reason: 'an equal part',
    token_contribution: 7500,
    messages: 12,
    keepits_kept: 0,
    keepits_total: 0,
    warning: null,
    fix: null,
    ...given,
  }
}

export function aPreview(given: Partial<CompositionPreview> = {}): CompositionPreview {
  return { budget: 16_000, total_tokens: 7500, overhead_tokens: 0, total_messages: 12, over: 0, components: [], messages: [], left_out: [], shared_messages: 0, ...given }
}

export function aComposition(given: Partial<Composition> = {}): Composition {
  return {
    composition_id: '0f0e0d0c-0000-4000-8000-000000000001',
    name: 'feature-x-context',
    project_id: '-home-ada-my-app',
    created_at: '2026-01-20T10:00:00.000Z',
    budget: 16_000,
    allocation: 'even',
    components: [],
    total_tokens: 7500,
    total_messages: 12,
    files: [],
    used_in_sessions: [],
    stale: [],
    ...given,
  }
}

export function aSuggestion(given: Partial<Suggestion> = {}): Suggestion {
  return {
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    title: 'Fix token refresh race',
    project_id: '-home-ada-my-app',
    project: 'my-app',
    last_timestamp: '2026-01-20T10:00:00.000Z',
    original_tokens: 100_000,
    version_id: 'v001',
    version_reason: 'v001: 94 % of its share',
    score: 0.82,
    parts: { relevance: 0.9, files: 0, folder: 1, topics: 0, recency: 0.5, branch: 0 },
    matched_topics: [],
    matched_files: [],
    suggested_tokens: 8000,
    reasons: ['says most about the task'],
    ...given,
  }
}

export function aHit(given: Partial<SearchHit> = {}): SearchHit {
  return {
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    session_title: 'Fix token refresh race',
    project_id: '-home-ada-my-app',
    project: 'my-app',
    git_branch: 'main',
    message_uuid: 'u0',
    index: 0,
    agent_id: null,
    parent_index: null,
    kind: 'text',
    role: 'user',
    timestamp: '2026-01-20T10:00:00.000Z',
    score: 1,
    snippet: 'the refresh token races',
    highlights: [[4, 17]],
    marker_id: null,
    weight: null,
    version_id: null,
    copies: 0,
    ...given,
  }
}

export function anAnswer(given: Partial<SearchAnswer> = {}): SearchAnswer {
  const hits = given.hits ?? []
  return { total: hits.length, every_word: true, corrections: [], filters: [], notes: [], pending: 0, elapsed_ms: 11, ...given, hits }
}
