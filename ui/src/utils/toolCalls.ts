//! Tool calls in one line: what was asked, and what came of it.

import type { ToolResult, ToolUse } from './conversation'
import { count, counted } from './format'

export type ToolIcon = 'read' | 'edit' | 'write' | 'run' | 'search' | 'agent' | 'web' | 'list' | 'ask' | 'other'

const ICONS: Record<string, ToolIcon> = {
  Read: 'read', NotebookRead: 'read', Edit: 'edit', MultiEdit: 'edit', NotebookEdit: 'edit', Write: 'write', Bash: 'run', BashOutput: 'run', KillShell: 'run', Grep: 'search', Glob: 'search', LS: 'search',
  ToolSearch: 'search', Task: 'agent', Agent: 'agent', WebFetch: 'web', WebSearch: 'web', TodoWrite: 'list', TaskCreate: 'list', TaskUpdate: 'list', TaskList: 'list', AskUserQuestion: 'ask', ExitPlanMode: 'ask',
}

export interface CallLine {
  icon: ToolIcon
  name: string
  /** Its main argument, in one line. */
  argument: string
}

/** The tool's name as people say it: `mcp__github__get_issue` is `github: get_issue`. */
export function toolName(name: string): string {
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name)
  return mcp === null ? name : `${mcp[1] ?? ''}: ${mcp[2] ?? ''}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}

function oneLine(value: string): string {
  return value.replace(/\s+/g, ' ').trim().slice(0, 300)
}

export function callLine(call: ToolUse): CallLine {
  const input = call.input
  const icon = ICONS[call.name] ?? 'other'
  const line = (argument: string, name = toolName(call.name)): CallLine => ({ icon, name, argument: oneLine(argument) })
  switch (call.name) {
    case 'Bash':
      return line(text(input['command']))
    case 'Grep':
      return line(`"${text(input['pattern'])}"${input['path'] === undefined ? '' : ` in ${text(input['path'])}`}${input['glob'] === undefined ? '' : ` ${text(input['glob'])}`}`)
    case 'Task':
    case 'Agent':
      return line(text(input['description']) || text(input['prompt']), text(input['subagent_type']) || toolName(call.name))
    case 'TodoWrite': {
      const todos = Array.isArray(input['todos']) ? input['todos'] : []
      return line(counted(todos.length, 'item'))
    }
    default: {
      const main = ['file_path', 'path', 'notebook_path', 'pattern', 'query', 'url', 'command', 'description', 'prompt', 'skill', 'subject', 'title', 'name', 'id'].map((key) => input[key]).find((value) => typeof value === 'string' && value !== '')
      if (main !== undefined) return line(text(main))
      const entries = Object.entries(input)
      return line(entries.length === 0 ? '' : entries.map(([key, value]) => `${key}: ${text(value)}`).join(', '))
    }
  }
}

/** What came of a call, for the right edge of its line. */
export interface CallEnd {
  text: string
  tone: 'plain' | 'danger'
}

export function callEnd(call: ToolUse, result: ToolResult | undefined): CallEnd {
  if (result === undefined) return { text: '', tone: 'plain' }
  if (result.is_error) return { text: failureWords(result.text), tone: 'danger' }
  const lines = lineCount(result.text)
  const plain = (words: string): CallEnd => ({ text: words, tone: 'plain' })
  switch (ICONS[call.name]) {
    case 'read':
      return plain(counted(lines, 'line'))
    case 'search': {
      const found = /^Found (\d+) (files?|matches|lines?)/i.exec(result.text)
      if (found !== null) return plain(`${count(Number(found[1]))} ${found[2] ?? ''}`)
      return plain(/^No (files|matches) found/i.test(result.text) ? 'nothing found' : counted(lines, 'line'))
    }
    case 'edit':
    case 'write':
    case 'list':
    case 'ask':
      return plain('')
    default:
      return plain(lines === 0 ? 'no output' : counted(lines, 'line'))
  }
}

function failureWords(text: string): string {
  const exit = /^(?:Error: )?Exit code (\d+)/i.exec(text)
  if (exit !== null) return `exit ${exit[1] ?? ''}`
  if (/doesn't want to proceed|was rejected|user rejected/i.test(text)) return 'refused by you'
  if (/interrupted/i.test(text.slice(0, 200))) return 'interrupted'
  return 'failed'
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}

/** A file that a call changes, before and after. */
export interface FileChange {
  path: string
  before: string
  after: string
}

/** The changes that an editing call asks for; none for other calls. */
export function fileChanges(call: ToolUse): FileChange[] {
  const input = call.input
  const path = text(input['file_path'] ?? input['notebook_path'])
  switch (call.name) {
    case 'Edit':
      return [{ path, before: text(input['old_string']), after: text(input['new_string']) }]
    case 'MultiEdit':
      return (Array.isArray(input['edits']) ? input['edits'] : []).flatMap((edit: unknown) =>
        typeof edit === 'object' && edit !== null ? [{ path, before: text((edit as Record<string, unknown>)['old_string']), after: text((edit as Record<string, unknown>)['new_string']) }] : [],
      )
    case 'Write':
      return [{ path, before: '', after: text(input['content']) }]
    case 'NotebookEdit':
      return [{ path, before: '', after: text(input['new_source']) }]
    default:
      return []
  }
}

/** The line of the file at which the changed text begins, when the result quotes the file with numbers. */
export function firstLineOf(change: FileChange, result: ToolResult | undefined): number | undefined {
  const wanted = change.after.split('\n')[0] ?? ''
  if (result === undefined || wanted.trim() === '') return undefined
  for (const line of result.text.split('\n')) {
    const numbered = /^\s*(\d+)[→\t](.*)$/.exec(line)
    if (numbered !== null && numbered[2] === wanted) return Number(numbered[1])
  }
  return undefined
}

/** Paths are long; the line shows them from the project on. */
export function withinProject(argument: string, projectPath: string): string {
  if (projectPath === '' || !argument.startsWith(`${projectPath}/`)) return argument
  return argument.slice(projectPath.length + 1)
}

