import { describe, expect, it } from 'vitest'
import type { WatchStatus } from '../api/generated/WatchStatus'
import { watchWords } from './watchWords'

const now = new Date('2026-01-20T10:02:00.000Z')
const archived = '2026-01-20T10:00:00.000Z'
const status = (given: Partial<WatchStatus>): WatchStatus => ({ state: 'following', folders: ['/home/ada/.claude/projects'], progress: null, message: null, hint: null, ...given })

describe('the words of the foot', () => {
  it('says that it watches, and when something was last kept', () => {
    expect(watchWords(status({}), archived, now)).toMatchObject({ dot: 'ok', text: 'Watching · archived 2 min ago' })
    expect(watchWords(status({ state: 'elsewhere' }), archived, now).text).toBe('Watching · archived 2 min ago')
  })

  it('never looks well when something is wrong', () => {
    const crowded = watchWords(status({ message: 'the system tells of no more folders', hint: 'raise the limit' }), archived, now)
    expect(crowded).toMatchObject({ dot: 'warn', more: 'the system tells of no more folders. raise the limit' })
    expect(watchWords(status({ state: 'failing', message: 'the disk is full' }), archived, now)).toMatchObject({ dot: 'warn', text: 'Nothing new is kept', more: 'the disk is full' })
    expect(watchWords(status({ state: 'paused' }), archived, now)).toMatchObject({ dot: 'warn', text: 'Paused · archived 2 min ago', resume: true })
  })

  it('shows how far catching up is, once there is a figure', () => {
    expect(watchWords(status({ state: 'catching_up', progress: { done: 1, total: 4, unit: 'bytes', stage: 'reading transcripts' } }), archived, now).text).toBe('Catching up · 25 %')
    expect(watchWords(status({ state: 'catching_up' }), archived, now).text, 'a look that finds nothing does not flicker').toBe('Watching · archived 2 min ago')
  })

  it('says without watching when something was kept', () => {
    expect(watchWords(undefined, archived, now)).toMatchObject({ dot: undefined, text: 'Archived 2 min ago' })
    expect(watchWords(undefined, undefined, now).text).toBe('Nothing kept yet')
  })
})
