import { describe, expect, it } from 'vitest'
import type { BackupStatus } from '../api/generated/BackupStatus'
import { backupWords } from './backupWords'

const last = { path: '/b/recollect.tar.zst', name: 'recollect.tar.zst', at: '2026-01-20T10:00:00.000Z', bytes: 5_000_000, automatic: true }
const status = (given: Partial<BackupStatus>): BackupStatus => ({ last, age_ms: 0, automatic: true, folder: '/b', keep: 7, failure: null, ...given })
const HOUR = 3_600_000

describe('the last backup', () => {
  it.each([
    [status({ age_ms: 5 * 60_000 }), 'Backed up just now', 'ok'],
    [status({ age_ms: 3 * HOUR }), 'Backed up 3 hours ago', 'ok'],
    [status({ age_ms: 12 * 24 * HOUR }), 'Backup 12 days old', 'warn'],
    [status({ age_ms: 5 * 24 * HOUR, automatic: false }), 'Backup 5 days old', 'ok'],
    [status({ last: null, age_ms: null }), 'No backup yet', 'warn'],
  ])('%#: says how old it is, and whether that is a worry', (given, title, tone) => {
    expect(backupWords(given)).toMatchObject({ title, tone })
  })

  it('says why the daily one failed', () => {
    const words = backupWords(status({ failure: { at: '2026-01-20T10:00:00.000Z', message: 'the disk is full' } }))
    expect(words).toMatchObject({ tone: 'warn', failure: 'The daily backup failed: The disk is full.' })
  })
})
