//! The result of an ingest in words: a line for each file, and a headline.

import type { IngestedFile } from '../api/generated/IngestedFile'
import type { IngestedSession } from '../api/generated/IngestedSession'
import type { IngestReport } from '../api/generated/IngestReport'
import { bytes, count, counted, fileName } from './format'

export type LineTone = 'ok' | 'same' | 'warn' | 'danger' | 'out'

export interface IngestLine {
  key: string
  tone: LineTone
  file: string
  path: string
  /** What became of it. */
  outcome: string
  /** What else is to say. */
  note: string
  session: IngestedSession | undefined
}

/** One line for each session file; sub-agents and tool results are summed up in the line of their session. */
export function ingestLines(report: IngestReport): IngestLine[] {
  const sessions = new Map(report.sessions.map((session) => [session.session_id, session]))
  const parts = new Map<string, IngestedFile[]>()
  const lines: IngestLine[] = []
  for (const file of report.files) {
    if (file.part === 'main' || file.session_id == null) continue
    parts.set(file.session_id, [...(parts.get(file.session_id) ?? []), file])
  }
  const shown = new Set<string>()
  for (const file of report.files) {
    const of = file.session_id ?? undefined
    if (file.part !== 'main' && of !== undefined && file.status !== 'failed' && report.files.some((each) => each.part === 'main' && each.session_id === of)) continue
    const session = of === undefined ? undefined : sessions.get(of)
    const extra = of === undefined || shown.has(of) ? [] : (parts.get(of) ?? [])
    if (of !== undefined) shown.add(of)
    lines.push({ key: file.path, file: fileName(file.path), path: file.path, session, ...wordsOf(file, extra) })
  }
  const order: LineTone[] = ['danger', 'warn', 'ok', 'same', 'out']
  return lines.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

function wordsOf(file: IngestedFile, parts: readonly IngestedFile[]): { tone: LineTone; outcome: string; note: string } {
  const known = file.messages - file.new_unique
  const agents = parts.filter((part) => part.part === 'agent').length
  const issues = [...file.issues, ...parts.flatMap((part) => part.issues)]
  const notes = [file.note ?? '', issues.length > 0 && file.note == null ? issueWords(issues.length, issues[0]?.line) : '', agents > 0 ? `with ${counted(agents, 'sub-agent')}` : '']
  const note = (more = ''): string => [...notes, more].filter((each) => each !== '').join('; ')
  switch (file.status) {
    case 'failed':
      return { tone: 'danger', outcome: 'could not be read', note: file.error ?? '' }
    case 'skipped':
      return { tone: 'out', outcome: 'left out', note: file.note ?? 'not a transcript' }
    case 'unchanged':
      return { tone: 'same', outcome: 'known already', note: note() }
    default: {
      const fresh = file.new_unique === file.messages ? `all ${counted(file.messages, 'message')} new` : `${count(file.new_unique)} of ${counted(file.messages, 'message')} new`
      return { tone: issues.length > 0 ? 'warn' : 'ok', outcome: file.messages === 0 ? 'no messages' : fresh, note: note(known > 0 ? `${count(known)} known` : '') }
    }
  }
}

function issueWords(issues: number, line: number | undefined): string {
  return issues === 1 && line !== undefined ? `line ${count(line)} was not understood; kept as it is` : `${counted(issues, 'line')} not understood; kept as they are`
}

export function ingestTitle(report: IngestReport): string {
  const { new_unique: fresh, new: sessions, failed } = report.totals
  if (fresh > 0) return `${counted(fresh, 'new message')} in memory`
  if (sessions > 0) return `${counted(sessions, 'new session')} in memory`
  if (failed > 0 && report.totals.sessions === 0) return 'Nothing could be read'
  return 'Nothing new'
}

export function ingestSubject(report: IngestReport, seconds: number): string {
  const { files, bytes_read: read, bytes_stored: stored } = report.totals
  return `${counted(files, 'file')}, ${bytes(read)} read, ${bytes(stored)} stored, ${seconds.toFixed(1)} s`
}

export function ingestSummary(report: IngestReport): string {
  const { new: fresh, updated, unchanged, failed, skipped } = report.totals
  const parts = [
    [fresh, 'new'],
    [updated, 'grown'],
    [unchanged, 'known'],
    [failed, 'unreadable'],
    [skipped, 'left out'],
  ] as const
  const words = parts.filter(([number]) => number > 0).map(([number, word]) => `${count(number)} ${word}`)
  return `${words.length === 0 ? 'Nothing to read' : words.join(', ')}. Your files were not changed.`
}

/** What was new of what was read, and why the rest was not; empty when nothing was read. */
export function dedupWords(report: IngestReport): string {
  const { new_unique: fresh, duplicates, total_unique: unique, repeats } = report.totals
  if (fresh + duplicates === 0) return ''
  const causes = [
    [repeats.file, 'in files kept already'],
    [repeats.beginning, 'at a beginning that two files share'],
    [repeats.record, 'in another session too'],
    [repeats.reply, 'repeated by a resumed session'],
    [repeats.text, 'say what another says'],
    [repeats.imported, 'known by an imported memory'],
  ] as const
  const why = causes.filter(([number]) => number > 0).map(([number, word]) => `${count(number)} ${word}`)
  return `${counted(fresh + duplicates, 'message')} processed: ${count(fresh)} new, ${counted(duplicates, 'duplicate')}${why.length > 0 ? ` (${why.join(', ')})` : ''}. ${count(unique)} different in memory.`
}

/** The report as text, for the clipboard. */
export function ingestText(report: IngestReport, seconds: number): string {
  const lines = ingestLines(report).map((line) => [line.path, line.outcome, line.note].filter((part) => part !== '').join('\t'))
  const issues = report.files.flatMap((file) => file.issues.map((issue) => `${file.path}:${String(issue.line)}\t${issue.message}`))
  return [ingestTitle(report), ingestSubject(report, seconds), '', ...lines, ...(issues.length > 0 ? ['', 'Lines that were not understood:', ...issues] : []), '', dedupWords(report), ingestSummary(report)].join('\n')
}
