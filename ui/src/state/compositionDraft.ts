//! The composition that is being built: one for the window, kept over restarts, with undo.

import { computed, shallowRef } from 'vue'
import type { Composition } from '../api/generated/Composition'
import { draftFrom, EMPTY_DRAFT, historyOf, redone, typingEnded, undone, withStep, type Draft, type DraftHistory, type DraftStep, type NewCard } from '../utils/compositionDraft'

const PLACE = 'recollect.composition-draft'

/** What the draft was last composed as. */
export interface ComposedDraft {
  /** The draft as it was then; told apart by identity, so that any change shows. */
  draft: Draft
  composition: Composition
}

const stored = read()
const history = shallowRef<DraftHistory>(historyOf(draftFrom(stored.draft)))
export const composedDraft = shallowRef<ComposedDraft>()
/** Names that this draft was composed as: composing it again may replace them without asking. */
const ownNames = shallowRef<readonly string[]>(stored.ownNames)
export const draftEditedAt = shallowRef<string | undefined>(stored.editedAt)

export const draft = computed(() => history.value.present)
export const canUndo = computed(() => history.value.past.length > 0)
export const canRedo = computed(() => history.value.future.length > 0)
/** The composition that is what the draft says, when there is one. */
export const upToDate = computed(() => (composedDraft.value?.draft === draft.value ? composedDraft.value.composition : undefined))

function become(next: DraftHistory): boolean {
  const changed = next.present !== history.value.present
  history.value = next
  if (changed) {
    draftEditedAt.value = new Date().toISOString()
    write()
  }
  return changed
}

/** Changes the draft; tells whether it did. */
export function changeDraft(step: DraftStep): boolean {
  return become(withStep(history.value, step))
}

/** Puts sessions on the timeline. */
export function addToDraft(sessions: readonly NewCard[], at?: number): boolean {
  return changeDraft(at === undefined ? { step: 'add', sessions } : { step: 'add', sessions, at })
}

export function undoDraft(): boolean {
  return become(undone(history.value))
}

export function redoDraft(): boolean {
  return become(redone(history.value))
}

/** A field was left: typing in it again is a new step to undo. */
export function endTyping(): void {
  history.value = typingEnded(history.value)
}

/** A new draft with the same budget and window. */
export function clearDraft(): void {
  const { budget, window, model, markdown, jsonl } = draft.value
  replaceDraft({ ...EMPTY_DRAFT, budget, window, model, markdown, jsonl })
}

/** Another draft; the one before is a step to undo. */
export function replaceDraft(next: Draft, owns: readonly string[] = []): void {
  ownNames.value = owns
  changeDraft({ step: 'replace', draft: next })
  composedDraft.value = undefined
  write()
}

/** The draft was composed: until it changes, it need not be again. */
export function markComposed(from: Draft, composition: Composition): void {
  composedDraft.value = { draft: from, composition }
  ownNames.value = [...ownNames.value.filter((name) => name !== composition.name), composition.name]
  write()
}

export function isOwnName(name: string): boolean {
  return ownNames.value.includes(name)
}

function read(): { draft: unknown; ownNames: string[]; editedAt: string | undefined } {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PLACE) ?? 'null')
    if (typeof value === 'object' && value !== null && 'draft' in value) {
      const names = 'ownNames' in value && Array.isArray(value.ownNames) ? value.ownNames.filter((name) => typeof name === 'string') : []
      const at = 'editedAt' in value && typeof value.editedAt === 'string' && !Number.isNaN(Date.parse(value.editedAt)) ? value.editedAt : undefined
      return { draft: value.draft, ownNames: names, editedAt: at }
    }
  } catch {
    // What cannot be read is no draft: one begins anew.
  }
  return { draft: undefined, ownNames: [], editedAt: undefined }
}

function write(): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ draft: draft.value, ownNames: ownNames.value, editedAt: draftEditedAt.value }))
  } catch {
    // A full or closed storage costs the draft over a restart, not the work at hand.
  }
}

// The draft as another window, or a test, left it.
export function reloadDraft(): void {
  const again = read()
  history.value = historyOf(draftFrom(again.draft))
  ownNames.value = again.ownNames
  draftEditedAt.value = again.editedAt
  composedDraft.value = undefined
}
