import { describe, expect, it } from 'vitest'
import { aReport, anIngestedFile } from '../testing/builders'
import { dropKinds } from './dropKinds'
import { dedupWords, ingestLines, ingestSummary, ingestText, ingestTitle } from './ingestWords'

describe('the result of an ingest', () => {
  const report = aReport({
    files: [
      anIngestedFile({ path: '/t/a.jsonl', session_id: 's1', messages: 450, new_unique: 412 }),
      anIngestedFile({ path: '/t/a/agent-1.jsonl', session_id: 's1', part: 'agent', messages: 9, new_unique: 9 }),
      anIngestedFile({ path: '/t/b.jsonl', session_id: 's2', status: 'unchanged', note: 'one more place remembered' }),
      anIngestedFile({ path: '/t/c.jsonl', session_id: 's3', messages: 5, new_unique: 5, issues: [{ line: 205, message: 'cut off' }] }),
      anIngestedFile({ path: '/t/d.jsonl', session_id: null, status: 'failed', error: 'permission denied' }),
      anIngestedFile({ path: '/t/e.png', session_id: null, status: 'skipped' }),
    ],
    totals: { new_unique: 426, new: 2, unchanged: 1, failed: 1, skipped: 1, files: 6 },
  })

  it('says for each file what was new, known, unread; what needs attention first', () => {
    expect(ingestLines(report).map((line) => [line.file, line.tone, line.outcome, line.note])).toEqual([
      ['d.jsonl', 'danger', 'could not be read', 'permission denied'],
      ['c.jsonl', 'warn', 'all 5 messages new', 'line 205 was not understood; kept as it is'],
      ['a.jsonl', 'ok', '412 of 450 messages new', 'with 1 sub-agent; 38 known'],
      ['b.jsonl', 'same', 'known already', 'one more place remembered'],
      ['e.png', 'out', 'left out', 'not a transcript'],
    ])
  })

  it('shows sub-agents that came without their session', () => {
    const alone = aReport({ files: [anIngestedFile({ path: '/t/agent-1.jsonl', session_id: 's1', part: 'agent', messages: 2, new_unique: 2 })] })
    expect(ingestLines(alone), 'no file may be missing from the sheet').toHaveLength(1)
  })

  it('is headed by what is new, and ends in the sums', () => {
    expect(ingestTitle(report)).toBe('426 new messages in memory')
    expect(ingestTitle(aReport({}))).toBe('Nothing new')
    expect(ingestSummary(report)).toBe('2 new, 1 known, 1 unreadable, 1 left out. Your files were not changed.')
  })

  it('tells duplicates by their cause, and nothing of none', () => {
    const repeats = { file: 0, beginning: 30, record: 0, reply: 0, text: 8, imported: 0 }
    expect(dedupWords(aReport({ totals: { new_unique: 412, duplicates: 38, repeats, total_unique: 9000 } }))).toBe(
      '450 messages processed: 412 new, 38 duplicates (30 at a beginning that two files share, 8 say what another says). 9,000 different in memory.',
    )
    expect(dedupWords(aReport({}))).toBe('')
  })

  it('as text names every line that was not understood', () => {
    expect(ingestText(report, 1.94)).toContain('/t/c.jsonl:205\tcut off')
  })
})

describe('files over the window', () => {
  it('are told apart before they are dropped', () => {
    expect(dropKinds(['/a/x.jsonl', '/a/y.JSONL', '/a/folder', '/a/z.png']).map((kind) => [kind.count, kind.what, kind.ending])).toEqual([
      [2, 'transcripts', '.jsonl'],
      [1, 'folder', ''],
      [1, 'other file', '.png'],
    ])
  })
})
