import { render, screen, waitFor } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { closeIngest } from '../../state/ingest'
import { aReport, anIngestedFile } from '../../testing/builders'
import { useTestHost } from '../../testing/host'
import DropZone from './DropZone.vue'
import FirstRun from './FirstRun.vue'
import IngestSheet from './IngestSheet.vue'

afterEach(closeIngest)
const Screen = defineComponent({ render: () => [h(DropZone), h(IngestSheet)] })

describe('files dropped on the window', () => {
  it('are announced, taken in as a job, and accounted for one by one', async () => {
    const host = useTestHost({ job_start: () => ({ job_id: 'j' }) })
    render(Screen)
    host.drop({ phase: 'enter', paths: ['/t/a.jsonl', '/t/pictures'], x: 1, y: 1 })
    expect(await screen.findByText('Drop to add 2 files to memory')).toBeInTheDocument()
    host.drop({ phase: 'drop', paths: ['/t/a.jsonl', '/t/pictures'], x: 1, y: 1 })
    await waitFor(() => expect(host.calls).toHaveLength(1))
    expect(host.calls[0]).toMatchObject({ command: 'job_start', request: { command: 'session_ingest', request: { paths: ['/t/a.jsonl', '/t/pictures'], all: false } } })
    host.tell({ event: 'job_done', job_id: 'j', response: aReport({ files: [anIngestedFile({ messages: 5, new_unique: 5 }), anIngestedFile({ path: '/t/old.jsonl', session_id: null, status: 'failed', error: 'permission denied' })], totals: { new_unique: 5, new: 1, failed: 1, files: 2 } }) })
    const sheet = await screen.findByRole('dialog')
    expect(sheet).toHaveTextContent('5 new messages in memory')
    expect(sheet).toHaveTextContent('permission denied')
    expect(sheet).toHaveTextContent('1 new, 1 unreadable. Your files were not changed.')
  })

  it('that leave the window leave nothing', async () => {
    const host = useTestHost()
    render(Screen)
    host.drop({ phase: 'enter', paths: ['/t/a.jsonl'], x: 1, y: 1 })
    await screen.findByText('Drop to add 1 file to memory')
    host.drop({ phase: 'leave' })
    await waitFor(() => expect(screen.queryByText(/Drop to add/)).toBeNull())
    expect(host.calls).toEqual([])
  })

  it('that fail as a whole say what is kept, and can be tried again', async () => {
    const host = useTestHost({ job_start: () => ({ job_id: 'j' }) })
    render(Screen)
    host.openPaths(['/t/a.jsonl'])
    await waitFor(() => expect(host.calls).toHaveLength(1))
    host.tell({ event: 'job_failed', job_id: 'j', error: { kind: 'io', message: 'no space left on device', hint: null } })
    expect(await screen.findByRole('alert')).toHaveTextContent('No space left on device.')
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    await waitFor(() => expect(host.calls).toHaveLength(2))
    host.tell({ event: 'job_failed', job_id: 'j', error: { kind: 'cancelled', message: 'cancelled', hint: null } })
    await waitFor(() => expect(screen.queryByRole('dialog'), 'what was cancelled needs no word').toBeNull())
  })
})

describe('the first start', () => {
  const overview = { home: '/home/ada/.claude-memory', claude_home: '/home/ada/.claude', claude_home_present: true, program_version: '0.1.0', projects: 0, sessions: 0, compositions: 0, last_archived: null, unregistered: { sessions: 109, projects: 6, bytes: 3_780_000_000 } }

  it('says what was found, and keeps it all by one action', async () => {
    const host = useTestHost({ job_start: () => ({ job_id: 'j' }) })
    render(FirstRun, { props: { overview } })
    expect(screen.getByRole('heading')).toHaveTextContent('109 sessions in 6 projects')
    expect(screen.getByText(/3\.78 GB of transcripts/)).toBeInTheDocument()
    await userEvent.click(screen.getByRole('button', { name: 'Keep all 109 sessions' }))
    await vi.waitFor(() => expect(host.calls[0]).toMatchObject({ request: { command: 'session_ingest', request: { all: true, paths: [] } } }))
    host.tell({ event: 'job_failed', job_id: 'j', error: { kind: 'cancelled', message: 'cancelled', hint: null } })
  })

  it('says so when there is no Claude home', () => {
    useTestHost()
    render(FirstRun, { props: { overview: { ...overview, claude_home_present: false, unregistered: { sessions: 0, projects: 0, bytes: 0 } } } })
    expect(screen.getByRole('heading')).toHaveTextContent('Claude Code was not found here')
  })
})
