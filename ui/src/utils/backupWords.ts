//! The last backup in words: how old, how large, and whether that is a worry.

import type { BackupStatus } from '../api/generated/BackupStatus'
import { asSentence } from './hintWords'
import { bytes, counted } from './format'

export interface BackupWords {
  title: string
  text: string
  tone: 'ok' | 'warn'
  failure: string | undefined
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

export function backupWords(status: BackupStatus): BackupWords {
  const { last, age_ms: age, automatic } = status
  const failure = status.failure == null ? undefined : `The daily backup failed: ${asSentence(status.failure.message)}`
  if (last == null || age == null) {
    return { title: 'No backup yet', text: automatic ? 'Made once a day by itself' : 'One file that the whole memory can be restored from', tone: 'warn', failure }
  }
  // Made daily by itself, two days mean that something keeps it from it.
  const old = age > (automatic ? 2 : 7) * DAY
  const days = Math.floor(age / DAY)
  const title = age < HOUR ? 'Backed up just now' : days === 0 ? `Backed up ${counted(Math.floor(age / HOUR), 'hour')} ago` : `Backup ${counted(days, 'day')} old`
  return { title, text: `${bytes(last.bytes)}, ${last.name}`, tone: old || failure !== undefined ? 'warn' : 'ok', failure }
}
