//! What became of the memory between two states, as rows: what was added, changed, removed, in words.

import type { CheckpointDiff } from '../api/generated/CheckpointDiff'
import type { SessionState } from '../api/generated/SessionState'
import { bytes, count, counted } from './format'

export interface CheckpointRow {
  key: string
  kind: 'added' | 'changed' | 'removed'
  sessionId: string
  title: string
  how: string
}

export function checkpointRows(diff: CheckpointDiff): CheckpointRow[] {
  const row = (kind: CheckpointRow['kind'], state: SessionState, how: string): CheckpointRow => ({ key: `${kind}:${state.session_id}`, kind, sessionId: state.session_id, title: state.title, how })
  return [
    ...diff.added.map((state) => row('added', state, held(state))),
    ...diff.changed.map(({ before, after }) => row('changed', after, changed(before, after))),
    ...diff.removed.map((state) => row('removed', state, held(state))),
  ]
}

function held(state: SessionState): string {
  return `${counted(state.messages, 'message')}, ${bytes(state.bytes)}`
}

function changed(before: SessionState, after: SessionState): string {
  const steps = (['messages', 'keepits', 'versions'] as const)
    .filter((figure) => before[figure] !== after[figure])
    .map((figure) => `${count(before[figure])} → ${count(after[figure])} ${figure}`)
  if (steps.length > 0) return steps.join(', ')
  return before.bytes === after.bytes ? 'other content of the same length' : `${bytes(before.bytes)} → ${bytes(after.bytes)}`
}

/** `+1,204`, `−3`, `no change`. */
export function difference(before: number, after: number, written: (value: number) => string = count): string {
  if (before === after) return 'no change'
  return after > before ? `+${written(after - before)}` : `−${written(before - after)}`
}
