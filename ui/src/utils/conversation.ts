//! How records become the conversation that people read: replies grouped, results joined to their calls, each record still one
//! row, so that a row's place in the list is its message's index.

import type { Block } from '../api/generated/Block'
import type { MessageView } from '../api/generated/MessageView'
import { localCommand, putIn, type LocalCommand, type PutIn } from './localCommand'

export type TextBlock = Extract<Block, { type: 'text' }>
export type ToolUse = Extract<Block, { type: 'tool_use' }>
export type ToolResult = Extract<Block, { type: 'tool_result' }>
export type Attachment = Extract<Block, { type: 'attachment' }>

/** A part of a row, in the order of the record. */
export type Section =
  | { kind: 'text'; text: string; block: number }
  | { kind: 'thinking'; text: string; block: number }
  | { kind: 'calls'; calls: ToolUse[]; block: number }
  | { kind: 'attachment'; attachment: Attachment; block: number }
  | { kind: 'result'; result: ToolResult; block: number }
  | { kind: 'aside'; aside: PutIn; block: number }

export type RowKind = 'user' | 'assistant' | 'compaction' | 'summary' | 'notice' | 'meta' | 'command' | 'hidden'

/** A record as a row. */
export interface Row {
  kind: RowKind
  message: MessageView
  sections: Section[]
  /** What the user ran in the client, in rows of that kind. */
  command: LocalCommand | undefined
  /** It opens a turn: name and time stand above it. */
  opens: boolean
  /** Index of the last record of the turn that it opens, as far as it is known. */
  turnEnd: number
  /** Its first calls continue the group of the row above. */
  joinsAbove: boolean
  /** Its last calls go on in the row below. */
  joinsBelow: boolean
}

/** Rows of loaded messages; `at(index)` gives nothing for those that are not. */
export function conversationRows(first: number, last: number, at: (index: number) => MessageView | undefined): Map<number, Row> {
  const calls = new Set<string>()
  for (let index = first; index <= last; index++) {
    for (const block of at(index)?.blocks ?? []) if (block.type === 'tool_use') calls.add(block.id)
  }
  const rows = new Map<number, Row>()
  let above: Row | undefined
  let opener: Row | undefined
  for (let index = first; index <= last; index++) {
    const message = at(index)
    if (message === undefined) {
      above = undefined
      opener = undefined
      continue
    }
    const sections = sectionsOf(message, calls)
    const command = commandOf(message)
    const kind = command === undefined ? kindOf(message, sections) : 'command'
    const row: Row = { kind, message, sections, command, opens: false, turnEnd: index, joinsAbove: false, joinsBelow: false }
    rows.set(index, row)
    if (kind === 'hidden') {
      if (opener !== undefined) opener.turnEnd = index
      continue
    }
    const spoken = kind === 'user' || kind === 'assistant'
    if (spoken && above?.kind === kind && opener !== undefined && (kind === 'assistant' ? continues(above.message, message) : isToolRow(row))) {
      opener.turnEnd = index
      if (above.sections.at(-1)?.kind === 'calls' && sections[0]?.kind === 'calls') {
        row.joinsAbove = true
        above.joinsBelow = true
      }
    } else if (spoken) {
      row.opens = true
      opener = row
    } else {
      opener = undefined
    }
    above = row
  }
  return rows
}

/** One reply is several records with one id; what follows a tool's result is of the same turn to its reader. */
function continues(above: MessageView, message: MessageView): boolean {
  if (above.reply_id != null && above.reply_id === message.reply_id) return true
  const calledBefore = above.blocks.at(-1)?.type === 'tool_use'
  return calledBefore && message.agent_id === above.agent_id
}

function isToolRow(row: Row): boolean {
  return row.message.role === 'tool'
}

function commandOf(message: MessageView): LocalCommand | undefined {
  const [only] = message.blocks
  // What is marked is always shown as it is.
  if (message.blocks.length !== 1 || only?.type !== 'text' || message.keepits.length > 0) return undefined
  if (message.role !== 'user' && message.role !== 'system') return undefined
  return message.kind === 'turn' || message.kind === 'notice' ? localCommand(only.text) : undefined
}

function kindOf(message: MessageView, sections: readonly Section[]): RowKind {
  switch (message.kind) {
    case 'compact_boundary':
      return 'compaction'
    case 'compact_summary':
      return 'summary'
    case 'meta':
      return 'meta'
    case 'notice':
      return 'notice'
    default:
  }
  if (message.role === 'system') return 'notice'
  if (sections.length === 0) return 'hidden'
  if (message.role === 'user' && sections.every((section) => section.kind === 'aside')) return 'meta'
  // A result without its call, or an image that a tool returned, stands with the model's work.
  return message.role === 'user' ? 'user' : 'assistant'
}

function sectionsOf(message: MessageView, calls: ReadonlySet<string>): Section[] {
  const sections: Section[] = []
  message.blocks.forEach((block, index) => {
    switch (block.type) {
      case 'text':
        if (block.text.trim() !== '') sections.push(asideOf(message, block.text, index) ?? { kind: 'text', text: block.text, block: index })
        break
      case 'thinking':
        if (block.text.trim() !== '') sections.push({ kind: 'thinking', text: block.text, block: index })
        break
      case 'tool_use': {
        const before = sections.at(-1)
        if (before?.kind === 'calls') before.calls.push(block)
        else sections.push({ kind: 'calls', calls: [block], block: index })
        break
      }
      case 'tool_result':
        if (!calls.has(block.tool_use_id)) sections.push({ kind: 'result', result: block, block: index })
        break
      case 'attachment':
        sections.push({ kind: 'attachment', attachment: block, block: index })
    }
  })
  return sections
}

/** What is marked is always shown as it is. */
function asideOf(message: MessageView, text: string, block: number): Section | undefined {
  const aside = message.role === 'user' && message.keepits.length === 0 ? putIn(text) : undefined
  return aside === undefined ? undefined : { kind: 'aside', aside, block }
}

/** Whether not all of a message is here: the window took only its beginning, or the client left lines out of an export. */
export function isCut(message: MessageView): boolean {
  return message.cut > 0 || message.cut_lines != null
}

/** Messages of results of which something is missing, by the call that they answer. */
export function cutResultsByCall(messages: Iterable<MessageView>): Map<string, MessageView> {
  const cut = new Map<string, MessageView>()
  for (const message of messages) {
    if (!isCut(message)) continue
    for (const block of message.blocks) if (block.type === 'tool_result') cut.set(block.tool_use_id, message)
  }
  return cut
}

/** Results by the call that they answer. */
export function resultsByCall(messages: Iterable<MessageView>): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>()
  for (const message of messages) {
    for (const block of message.blocks) if (block.type === 'tool_result') results.set(block.tool_use_id, block)
  }
  return results
}
