//! Sessions that Claude Code deletes soon and that are not archived: read when sessions change, and every hour.

import { computed, shallowRef, watch } from 'vue'
import { call } from '../api/call'
import type { Expiring } from '../api/generated/Expiring'
import type { SessionId } from '../api/generated/SessionId'
import { ingest } from './ingest'
import { sessionsRevision } from './memory'

const HOUR_MS = 3_600_000

export const expiring = shallowRef<Expiring>()
/** Days left of sessions in memory whose transcripts are not archived as they are. */
export const expiringDays = computed<ReadonlyMap<SessionId, number>>(() => {
  const days = new Map<SessionId, number>()
  for (const session of expiring.value?.sessions ?? []) if (!session.archived && session.session_id != null) days.set(session.session_id, session.days_left)
  return days
})

/** Reads them; what fails is read the next time. */
export async function refreshExpiring(): Promise<void> {
  try {
    expiring.value = await call('session_expiring', {})
  } catch {
    expiring.value = undefined
  }
}

/** Reads once, then follows for the life of the window. */
export function followExpiring(): Promise<void> {
  watch(sessionsRevision, () => void refreshExpiring())
  setInterval(() => void refreshExpiring(), HOUR_MS)
  return refreshExpiring()
}

/** Archives all of them. */
export async function archiveExpiring(): Promise<void> {
  await ingest({ expiring: true })
  await refreshExpiring()
}
