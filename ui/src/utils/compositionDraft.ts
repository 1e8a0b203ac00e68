//! The composition that is being built, as a value: every change is a pure step, with a history to undo and redo.

import type { Allocation } from '../api/generated/Allocation'
import type { CompositionFormat } from '../api/generated/CompositionFormat'
import type { CompositionOrder } from '../api/generated/CompositionOrder'
import type { CompositionRequest } from '../api/generated/CompositionRequest'
import type { CompressionSettings } from '../api/generated/CompressionSettings'
import type { ComponentRequest } from '../api/generated/ComponentRequest'
import { count } from './format'
import { parseTokens } from './tokens'

/** A session on the timeline. */
export interface DraftCard {
  sessionId: string
  /** As the list had it when it was added: shown until the engine answers. */
  title: string
  tokens: number
  lastTimestamp: string | null
  /** `auto`, `original`, `new`, or a version's id. */
  version: string
  /** The share as it was typed; empty when the engine decides. */
  share: string
  /** How a new compression is made, where the user chose. */
  settings: CompressionSettings | null
}

/** What is being built. Figures are kept as they were typed, so that nothing half-typed is lost. */
export interface Draft {
  name: string
  budget: string
  window: string
  /** The model whose window it is; empty for a size of one's own. */
  model: string
  allocation: Allocation
  /** What the context is for, in the user's words. */
  task: string
  order: CompositionOrder
  markdown: boolean
  jsonl: boolean
  cards: readonly DraftCard[]
}

export const EMPTY_DRAFT: Draft = { name: '', budget: '16,000', window: '200,000', model: '', allocation: 'even', task: '', order: 'given', markdown: true, jsonl: true, cards: [] }

export type NewCard = Pick<DraftCard, 'sessionId' | 'title' | 'tokens' | 'lastTimestamp'>

export type DraftStep =
  | { step: 'add'; sessions: readonly NewCard[]; at?: number }
  | { step: 'move'; sessionId: string; to: number }
  | { step: 'remove'; sessionId: string }
  | { step: 'version'; sessionId: string; version: string; settings?: CompressionSettings | null }
  | { step: 'share'; sessionId: string; share: string }
  /** Shares by hand, those that were typed as they are. */
  | { step: 'by_hand'; shares: ReadonlyMap<string, number> }
  /** The order that the engine gave by time: no step of the user's. */
  | { step: 'sorted'; ids: readonly string[] }
  | { step: 'set'; values: Partial<Omit<Draft, 'cards'>> }
  | { step: 'replace'; draft: Draft }

/** The draft after a step; the same object when the step changes nothing. */
export function afterStep(draft: Draft, step: DraftStep): Draft {
  switch (step.step) {
    case 'add':
      return added(draft, step.sessions, step.at ?? draft.cards.length)
    case 'move':
      return moved(draft, step.sessionId, step.to)
    case 'by_hand':
      return { ...draft, allocation: 'manual', cards: draft.cards.map((card) => (card.share.trim() !== '' ? card : { ...card, share: count(step.shares.get(card.sessionId) ?? 0) })) }
    case 'sorted': {
      const at = new Map(step.ids.map((id, index) => [id, index]))
      const cards = [...draft.cards].sort((a, b) => (at.get(a.sessionId) ?? Infinity) - (at.get(b.sessionId) ?? Infinity))
      return draft.cards.every((card) => at.has(card.sessionId)) && !sameOrder(cards, draft.cards) ? { ...draft, cards } : draft
    }
    case 'remove': {
      const cards = draft.cards.filter((card) => card.sessionId !== step.sessionId)
      return cards.length === draft.cards.length ? draft : { ...draft, cards }
    }
    case 'version':
      return changed(draft, step.sessionId, { version: step.version, settings: step.settings ?? null })
    case 'share':
      return changed(draft, step.sessionId, { share: step.share })
    case 'set': {
      const keys = Object.keys(step.values) as (keyof typeof step.values)[]
      return keys.every((key) => draft[key] === step.values[key]) ? draft : { ...draft, ...step.values }
    }
    case 'replace':
      return step.draft
  }
}

/** Sessions that are on the timeline already are moved there, not doubled. */
function added(draft: Draft, sessions: readonly NewCard[], at: number): Draft {
  const known = new Map(draft.cards.map((card) => [card.sessionId, card]))
  const coming = new Map<string, DraftCard>()
  for (const { sessionId, title, tokens, lastTimestamp } of sessions) {
    coming.set(sessionId, known.get(sessionId) ?? { sessionId, title, tokens, lastTimestamp, version: 'auto', share: '', settings: null })
  }
  if (coming.size === 0) return draft
  const stays = (card: DraftCard): boolean => !coming.has(card.sessionId)
  const cards = [...draft.cards.slice(0, at).filter(stays), ...coming.values(), ...draft.cards.slice(at).filter(stays)]
  return sameOrder(cards, draft.cards) ? draft : { ...draft, cards }
}

function moved(draft: Draft, sessionId: string, to: number): Draft {
  const card = draft.cards.find((each) => each.sessionId === sessionId)
  if (card === undefined) return draft
  const cards = draft.cards.filter((each) => each !== card)
  cards.splice(Math.max(0, Math.min(cards.length, to)), 0, card)
  // What is moved by hand stands by hand.
  return sameOrder(cards, draft.cards) ? draft : { ...draft, cards, order: 'given' }
}

function changed(draft: Draft, sessionId: string, values: Partial<DraftCard>): Draft {
  const cards = draft.cards.map((card) => (card.sessionId === sessionId ? { ...card, ...values } : card))
  const differs = cards.some((card, index) => {
    const before = draft.cards[index]
    return before?.version !== card.version || before.share !== card.share || before.settings !== card.settings
  })
  return differs ? { ...draft, cards } : draft
}

function sameOrder(left: readonly DraftCard[], right: readonly DraftCard[]): boolean {
  return left.length === right.length && left.every((card, index) => card === right[index])
}

/** The draft with its past and its undone future. */
export interface DraftHistory {
  past: readonly Draft[]
  present: Draft
  future: readonly Draft[]
  /** What the last step typed into: typing on in one field is one step to undo. */
  typing: string | undefined
}

const LONGEST_PAST = 100

export function historyOf(draft: Draft): DraftHistory {
  return { past: [], present: draft, future: [], typing: undefined }
}

export function withStep(history: DraftHistory, step: DraftStep): DraftHistory {
  const present = afterStep(history.present, step)
  if (present === history.present) return history
  if (step.step === 'sorted') return { ...history, present }
  const typing = typedInto(step)
  if (typing !== undefined && typing === history.typing) return { ...history, present, future: [] }
  return { past: [...history.past, history.present].slice(-LONGEST_PAST), present, future: [], typing }
}

export function undone(history: DraftHistory): DraftHistory {
  const present = history.past.at(-1)
  if (present === undefined) return history
  return { past: history.past.slice(0, -1), present, future: [history.present, ...history.future], typing: undefined }
}

export function redone(history: DraftHistory): DraftHistory {
  const [present, ...future] = history.future
  if (present === undefined) return history
  return { past: [...history.past, history.present], present, future, typing: undefined }
}

/** Typing into another field, or anything else between, begins a new step to undo. */
export function typingEnded(history: DraftHistory): DraftHistory {
  return history.typing === undefined ? history : { ...history, typing: undefined }
}

function typedInto(step: DraftStep): string | undefined {
  if (step.step === 'share') return `share:${step.sessionId}`
  if (step.step !== 'set') return undefined
  const keys = Object.keys(step.values)
  return keys.length === 1 && (keys[0] === 'name' || keys[0] === 'budget' || keys[0] === 'window' || keys[0] === 'task') ? keys[0] : undefined
}

/** Why the engine cannot be asked, as a sentence; nothing when it can. */
export function draftFault(draft: Draft): string | undefined {
  if (draft.cards.length === 0) return 'Add a session first'
  const budget = parseTokens(draft.budget)
  if (budget === undefined || budget < 1) return 'The budget is not a number of tokens'
  if (draft.allocation === 'by_relevance' && draft.task.trim() === '') return 'Say what the task is: sessions that tell more of it get more'
  if (draft.allocation === 'manual' && draft.cards.some((card) => card.share.trim() === '')) return 'Each session needs its share'
  return draft.cards.some((card) => card.share.trim() !== '' && (parseTokens(card.share) ?? 0) < 1) ? 'A share is not a number of tokens' : undefined
}

/** What the engine is asked for; nothing while the draft has a fault. */
export function requestOf(draft: Draft, options: { name: string; replace: boolean }): CompositionRequest | undefined {
  const budget = parseTokens(draft.budget)
  if (budget === undefined || draftFault(draft) !== undefined) return undefined
  const components: ComponentRequest[] = []
  for (const card of draft.cards) {
    const tokens = card.share.trim() === '' ? null : parseTokens(card.share)
    if (tokens === undefined) return undefined
    components.push({ session: card.sessionId, version: card.version, tokens, settings: card.version === 'new' ? card.settings : null })
  }
  return { name: options.name, budget, components, allocation: draft.allocation, task: draft.task.trim() === '' ? null : draft.task.trim(), order: draft.order, format: formatOf(draft), replace: options.replace }
}

/** Which files; both when none is chosen, for a preview has none. */
export function formatOf(draft: Pick<Draft, 'markdown' | 'jsonl'>): CompositionFormat {
  if (draft.markdown === draft.jsonl) return 'both'
  return draft.markdown ? 'markdown' : 'jsonl'
}

const ALLOCATIONS: readonly Allocation[] = ['even', 'by_length', 'by_recency', 'by_relevance', 'manual']

/** A draft read back from storage: whatever is not what it should be is as in a new one. */
export function draftFrom(stored: unknown): Draft {
  if (!isRecord(stored)) return EMPTY_DRAFT
  const text = (key: 'name' | 'budget' | 'window' | 'model' | 'task'): string => (typeof stored[key] === 'string' ? stored[key] : EMPTY_DRAFT[key])
  const flag = (key: 'markdown' | 'jsonl'): boolean => (typeof stored[key] === 'boolean' ? stored[key] : EMPTY_DRAFT[key])
  const allocation = ALLOCATIONS.find((each) => each === stored['allocation'])
  return {
    name: text('name'),
    budget: text('budget'),
    window: text('window'),
    model: text('model'),
    allocation: allocation ?? 'even',
    task: text('task'),
    order: stored['order'] === 'by_time' ? 'by_time' : 'given',
    markdown: flag('markdown'),
    jsonl: flag('jsonl'),
    cards: (Array.isArray(stored['cards']) ? stored['cards'] : []).flatMap(cardFrom),
  }
}

function cardFrom(stored: unknown): DraftCard[] {
  if (!isRecord(stored) || typeof stored['sessionId'] !== 'string') return []
  return [
    {
      sessionId: stored['sessionId'],
      title: typeof stored['title'] === 'string' ? stored['title'] : stored['sessionId'],
      tokens: typeof stored['tokens'] === 'number' ? stored['tokens'] : 0,
      lastTimestamp: typeof stored['lastTimestamp'] === 'string' ? stored['lastTimestamp'] : null,
      version: typeof stored['version'] === 'string' ? stored['version'] : 'auto',
      share: typeof stored['share'] === 'string' ? stored['share'] : '',
      settings: isRecord(stored['settings']) && 'mode' in stored['settings'] ? (stored['settings'] as unknown as CompressionSettings) : null,
    },
  ]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A composition as a draft: what would make it again, with the titles that it had. */
export function draftOf(request: CompositionRequest, components: readonly { session_id: string; title: string; original_tokens: number; last_timestamp?: string | null }[], name: string): Draft {
  const known = new Map(components.map((component) => [component.session_id, component]))
  return {
    ...EMPTY_DRAFT,
    name,
    budget: count(request.budget),
    allocation: request.allocation ?? (request.task == null ? 'even' : 'by_relevance'),
    task: request.task ?? '',
    order: request.order ?? 'given',
    markdown: request.format !== 'jsonl',
    jsonl: request.format !== 'markdown',
    cards: request.components.map((component) => {
      const about = known.get(component.session)
      return {
        sessionId: component.session,
        title: about?.title ?? component.session,
        tokens: about?.original_tokens ?? 0,
        lastTimestamp: about?.last_timestamp ?? null,
        version: component.version ?? 'auto',
        share: component.tokens == null ? '' : count(component.tokens),
        settings: component.settings == null ? null : builtIn(component.settings),
      }
    }),
  }
}

/** The same by the built-in engine: no model is asked because one was asked before. */
function builtIn(settings: CompressionSettings): CompressionSettings {
  return { ...settings, engine: null, model: null, max_cost: null }
}
