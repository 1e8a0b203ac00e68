import { describe, expect, it } from 'vitest'
import { aMessage } from '../testing/builders'
import type { MessageView } from '../api/generated/MessageView'
import { conversationRows, resultsByCall } from './conversation'
import { localCommand } from './localCommand'

const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'Bash', input: { command: 'ls' } })
const result = (id: string) => ({ type: 'tool_result' as const, tool_use_id: id, text: 'a\nb', is_error: false })

function rowsOf(messages: MessageView[]) {
  return conversationRows(0, messages.length - 1, (index) => messages[index])
}

describe('rows of a conversation', () => {
  const messages = [
    aMessage({ index: 0, text: 'Do it.' }),
    aMessage({ index: 1, role: 'assistant', reply_id: 'r1', text: 'I will.' }),
    aMessage({ index: 2, role: 'assistant', reply_id: 'r1', blocks: [use('t1')] }),
    aMessage({ index: 3, role: 'tool', blocks: [result('t1')] }),
    aMessage({ index: 4, role: 'assistant', reply_id: 'r2', blocks: [use('t2')] }),
    aMessage({ index: 5, role: 'tool', blocks: [result('t2')] }),
    aMessage({ index: 6, role: 'assistant', reply_id: 'r3', text: 'Done.' }),
    aMessage({ index: 7, text: 'Thanks.' }),
  ]

  it('keep one row for each record, so that a place in the list is the index of a message', () => {
    expect([...rowsOf(messages).keys()]).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('name a turn once, over all records of its reply and of its work', () => {
    const rows = rowsOf(messages)
    expect([...rows].filter(([, row]) => row.opens).map(([index, row]) => [index, row.turnEnd])).toEqual([[0, 0], [1, 6], [7, 7]])
  })

  it('join results to their calls, and calls of one piece of work to one group', () => {
    const rows = rowsOf(messages)
    expect(rows.get(3)?.kind, 'the result stands in the line of its call').toBe('hidden')
    expect([rows.get(2)?.joinsAbove, rows.get(2)?.joinsBelow, rows.get(4)?.joinsAbove, rows.get(4)?.joinsBelow]).toEqual([false, true, true, false])
    expect(resultsByCall(messages).get('t2')?.text).toBe('a\nb')
  })

  it('show a result whose call is not there, rather than lose it', () => {
    const rows = rowsOf([aMessage({ index: 0, role: 'tool', blocks: [result('gone')] })])
    expect(rows.get(0)?.sections[0]?.kind).toBe('result')
  })

  it('leave gaps where messages are not read yet', () => {
    const rows = conversationRows(0, 2, (index) => (index === 1 ? undefined : aMessage({ index })))
    expect([...rows.keys()]).toEqual([0, 2])
    expect(rows.get(2)?.opens, 'what stands above is unknown, so the turn is named').toBe(true)
  })

  it('tell compaction, its summary, notices and what the client put in from what was said', () => {
    const kinds = ['compact_boundary', 'compact_summary', 'notice', 'meta'] as const
    const rows = rowsOf(kinds.map((kind, index) => aMessage({ index, kind })))
    expect([...rows.values()].map((row) => row.kind)).toEqual(['compaction', 'summary', 'notice', 'meta'])
  })
})

describe('commands of the client', () => {
  it.each([
    ['<command-name>/context</command-name>\n <command-message>context</command-message>\n<command-args></command-args>', { kind: 'command', text: '/context' }],
    ['<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args>the api</command-args>', { kind: 'command', text: '/init the api' }],
    ['<local-command-stdout>\u001b[1mBye!\u001b[22m</local-command-stdout>', { kind: 'output', text: 'Bye!' }],
    ['<bash-input>ls</bash-input>', { kind: 'command', text: '! ls' }],
    ['Why does <command-name>/x</command-name> fail?', undefined],
    ['plain', undefined],
  ])('%j', (text, expected) => {
    expect(localCommand(text)).toEqual(expected)
  })

  it('are shown as text when something in them is marked', () => {
    const marked = aMessage({ text: '<bash-input>ls</bash-input>' })
    marked.keepits = [{ marker_id: 'k', session_id: 's', message_uuid: 'u', message_index: 0, weight: 1, text_weight: null, content: 'ls', start: 12, end: 14, context: '', source: 'overlay', created_at: '2026-01-01T00:00:00.000Z', survived_in: [], summarized_in: [] }]
    expect(rowsOf([marked]).get(0)?.kind, 'a keepit must never be out of sight').toBe('user')
  })
})
