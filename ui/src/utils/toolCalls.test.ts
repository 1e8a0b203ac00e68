import { describe, expect, it } from 'vitest'
import { lineDiff } from './lineDiff'
import { callEnd, callLine, fileChanges, firstLineOf, toolName, withinProject } from './toolCalls'

const call = (name: string, input: Record<string, unknown>) => ({ type: 'tool_use' as const, id: 't', name, input })
const result = (text: string, is_error = false) => ({ type: 'tool_result' as const, tool_use_id: 't', text, is_error })

describe('a tool call in one line', () => {
  it.each([
    [call('Read', { file_path: '/p/src/a.ts' }), 'Read', '/p/src/a.ts'],
    [call('Bash', { command: 'pnpm test\n  --run', description: 'tests' }), 'Bash', 'pnpm test --run'],
    [call('Grep', { pattern: 'x', path: 'src' }), 'Grep', '"x" in src'],
    [call('Task', { description: 'Trace callers', subagent_type: 'Explore' }), 'Explore', 'Trace callers'],
    [call('mcp__github__get_issue', { id: '7' }), 'github: get_issue', '7'],
    [call('Strange', {}), 'Strange', ''],
    [call('Bash', { command: 7 as unknown as string }), 'Bash', '7'],
  ])('%j', (each, name, argument) => {
    expect([callLine(each).name, callLine(each).argument]).toEqual([name, argument])
  })

  it.each([
    ['Read', result('1→a\n2→b\n'), { text: '2 lines', tone: 'plain' }],
    ['Grep', result('Found 6 files\na\nb'), { text: '6 files', tone: 'plain' }],
    ['Bash', result(''), { text: 'no output', tone: 'plain' }],
    ['Bash', result('Exit code 2\nboom', true), { text: 'exit 2', tone: 'danger' }],
    ['Edit', result('The user doesn\'t want to proceed with this tool use.', true), { text: 'refused by you', tone: 'danger' }],
  ] as const)('%s says what came of it', (name, of, expected) => {
    expect(callEnd(call(name, {}), of)).toEqual(expected)
  })

  it('says nothing of a result that is not there', () => {
    expect(callEnd(call('Bash', {}), undefined).text).toBe('')
    expect(toolName('mcp__a__b__c')).toBe('a: b__c')
  })

  it('shows paths from the project on, and only of the project', () => {
    expect(withinProject('/home/ada/app/src/a.ts', '/home/ada/app')).toBe('src/a.ts')
    expect(withinProject('/home/ada/app2/a.ts', '/home/ada/app')).toBe('/home/ada/app2/a.ts')
  })
})

describe('changes of files', () => {
  it('come from edits, several edits and writes, whatever shape they have', () => {
    expect(fileChanges(call('MultiEdit', { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y' }, 7, null] }))).toEqual([{ path: 'a', before: 'x', after: 'y' }])
    expect(fileChanges(call('Write', { file_path: 'a', content: 'x' }))).toEqual([{ path: 'a', before: '', after: 'x' }])
    expect(fileChanges(call('MultiEdit', { edits: 'no list' }))).toEqual([])
  })

  it('begin at the line that the result quotes', () => {
    expect(firstLineOf({ path: 'a', before: 'x', after: 'const b = 1' }, result('   41→const a\n   42→const b = 1'))).toBe(42)
    expect(firstLineOf({ path: 'a', before: 'x', after: 'nowhere' }, result('   41→const a'))).toBeUndefined()
  })

  it('are lines with numbers, and words within changed lines', () => {
    const diff = lineDiff('a\nconst next = rotate(token)\nc', 'a\nconst next = single(token)\nc\nd', 10)
    expect(diff.rows.map((row) => [row.kind, row.before, row.after])).toEqual([
      ['same', 10, 10],
      ['removed', 11, undefined],
      ['added', undefined, 11],
      ['same', 12, 12],
      ['added', undefined, 13],
    ])
    expect(diff.rows[1]?.words.filter((word) => word.changed).map((word) => word.text)).toEqual(['rotate'])
    expect(diff.rows[2]?.words.filter((word) => word.changed).map((word) => word.text)).toEqual(['single'])
    expect([diff.added, diff.removed]).toEqual([2, 1])
  })

  it('of a new file are all added', () => {
    expect(lineDiff('', 'a\nb\n')).toMatchObject({ added: 2, removed: 0 })
    expect(lineDiff('', '').rows).toEqual([])
  })
})
