import { describe, expect, it, vi } from 'vitest'
import { useTestHost } from '../testing/host'
import { startJob } from './jobs'

const stats = { projects: 1, sessions: 2, paired_exports: 0, messages: 3, unique_messages: 3, tokens: 4, files: 1, original_bytes: 1, stored_bytes: 1, dedup_ratio: 0, keepits: 0, versions: 0, compositions: 0 }

describe('a job', () => {
  it('hears its progress and is fulfilled with the response of its command', async () => {
    const host = useTestHost({ job_start: () => ({ job_id: 'j1' }) })
    const onProgress = vi.fn()
    const job = startJob('stats_get', {}, { onProgress })
    await vi.waitFor(() => expect(host.calls).toHaveLength(1))
    await Promise.resolve()
    host.tell({ event: 'job_progress', job_id: 'j1', progress: { done: 1, total: 2, unit: 'files', stage: 'a.jsonl' } })
    host.tell({ event: 'job_progress', job_id: 'other', progress: { done: 9, total: 9, unit: 'files', stage: 'b.jsonl' } })
    host.tell({ event: 'job_done', job_id: 'j1', response: stats })
    await expect(job.done).resolves.toEqual(stats)
    expect(onProgress.mock.calls, "another job's progress is not this one's").toEqual([[{ done: 1, total: 2, unit: 'files', stage: 'a.jsonl' }]])
    expect(host.calls[0]).toEqual({ command: 'job_start', request: { command: 'stats_get', request: {} } })
  })

  it('that ends before its id is known is not lost', async () => {
    const host = useTestHost()
    host.answers.job_start = () => {
      host.tell({ event: 'job_done', job_id: 'quick', response: stats })
      return { job_id: 'quick' }
    }
    await expect(startJob('stats_get', {}).done, 'events may overtake the answer that names the job').resolves.toEqual(stats)
  })

  it('that fails is rejected with kind and hint', async () => {
    const host = useTestHost()
    host.answers.job_start = () => {
      host.tell({ event: 'job_failed', job_id: 'j', error: { kind: 'io', message: 'no space left', hint: 'free some' } })
      return { job_id: 'j' }
    }
    await expect(startJob('stats_get', {}).done).rejects.toMatchObject({ kind: 'io', message: 'no space left', hint: 'free some' })
  })

  it('cancelled while it starts is cancelled as soon as it has an id', async () => {
    const host = useTestHost()
    host.answers.job_start = async () => {
      await job.cancel()
      return { job_id: 'j' }
    }
    host.answers.job_cancel = ({ job_id }) => {
      host.tell({ event: 'job_failed', job_id, error: { kind: 'cancelled', message: 'cancelled' } })
      return { was_running: true }
    }
    const job = startJob('stats_get', {})
    await expect(job.done).rejects.toMatchObject({ kind: 'cancelled' })
    expect(host.calls.map((call) => call.command)).toEqual(['job_start', 'job_cancel'])
  })

  it('cancelled before it started is never started', async () => {
    const host = useTestHost()
    const job = startJob('stats_get', {})
    void job.cancel()
    await expect(job.done).rejects.toMatchObject({ kind: 'cancelled' })
    expect(host.calls).toEqual([])
  })
})
