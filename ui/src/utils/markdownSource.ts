//! Finds for each run of rendered text where it stands in the Markdown source.
//!
//! markdown-it gives lines for blocks but no positions for inline pieces. The pieces stand in the source in order and word for
//! word, but for escapes and entities, which it keeps apart; so each is looked for from where the last one ended.

import type { Token } from 'markdown-it'

/** A top-level block: its tokens, and where its first and last words stand, when it has any. */
export interface BlockRange {
  first: number
  last: number
  start: number | undefined
  end: number | undefined
}

/** Writes `meta.start` (and `meta.length` or `meta.lines`) to the tokens that show text; returns the top-level blocks. */
export function alignTokens(source: string, tokens: Token[]): BlockRange[] {
  const lines = lineStarts(source)
  const lineAt = (line: number): number => lines[line] ?? source.length
  const blocks: BlockRange[] = []
  let cursor = 0
  let limit = source.length
  let block: BlockRange | undefined

  function seen(start: number, end: number): void {
    if (block === undefined || end <= start) return
    block.start ??= start
    block.end = end
  }

  tokens.forEach((token, index) => {
    if (token.level === 0 && token.nesting >= 0) {
      block = { first: index, last: index, start: undefined, end: undefined }
      blocks.push(block)
      if (token.map !== null) limit = lineAt(token.map[1])
    }
    if (block !== undefined) block.last = index
    if (token.map !== null) cursor = Math.max(cursor, lineAt(token.map[0]))
    if (token.type === 'fence' || token.type === 'code_block') {
      const starts = codeLines(source, token, lineAt)
      token.meta = { lines: starts }
      const last = token.content.replace(/\n$/, '').split('\n')
      seen(starts[0] ?? 0, (starts.at(-1) ?? 0) + (last.at(-1)?.length ?? 0))
      if (token.map !== null) cursor = lineAt(token.map[1])
    } else if (token.type === 'inline') {
      for (const child of token.children ?? []) {
        cursor = alignChild(source, child, cursor, limit, seen)
      }
    }
  })
  return blocks
}

function alignChild(source: string, token: Token, cursor: number, limit: number, seen: (start: number, end: number) => void): number {
  switch (token.type) {
    case 'text':
    case 'code_inline': {
      if (token.content === '') return cursor
      const at = source.indexOf(token.content, cursor)
      if (at !== -1 && at + token.content.length <= limit) {
        token.meta = { start: at }
        seen(at, at + token.content.length)
        return at + token.content.length
      }
      return alignLoosely(source, token, cursor, limit, seen)
    }
    case 'text_special': {
      const at = source.indexOf(token.markup, cursor)
      if (token.markup === '' || at === -1 || at + token.markup.length > limit) return cursor
      token.meta = { start: at, length: token.markup.length }
      seen(at, at + token.markup.length)
      return at + token.markup.length
    }
    case 'softbreak':
    case 'hardbreak': {
      const at = source.indexOf('\n', cursor)
      return at === -1 || at >= limit ? cursor : at + 1
    }
    case 'link_close':
    case 'image':
      return token.info === 'auto' ? cursor : afterTarget(source, token.type === 'image' ? source.indexOf('](', cursor) : cursor, cursor, limit)
    default:
      return cursor
  }
}

/** Inline code over a line's end is shown with a space in its place. */
function alignLoosely(source: string, token: Token, cursor: number, limit: number, seen: (start: number, end: number) => void): number {
  if (token.content.length > 2000) return cursor
  const pattern = token.content.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[\\s>]+')
  const found = new RegExp(pattern).exec(source.slice(cursor, limit))
  if (found === null || found[0] === '') return cursor
  const at = cursor + found.index
  token.meta = { start: at, length: found[0].length }
  seen(at, at + found[0].length)
  return at + found[0].length
}

/** Past `](target)`, whose words must not be taken for the text that follows. */
function afterTarget(source: string, at: number, cursor: number, limit: number): number {
  if (at === -1 || at >= limit || !source.startsWith('](', at)) return cursor
  let depth = 0
  for (let index = at + 1; index < limit; index++) {
    const character = source[index]
    if (character === '\\') index++
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return index + 1
  }
  return cursor
}

/** Where each line of a code block begins; its lines may be indented further in the source than they are shown. */
function codeLines(source: string, token: Token, lineAt: (line: number) => number): number[] {
  if (token.map === null) return []
  const first = token.map[0] + (token.type === 'fence' ? 1 : 0)
  return token.content
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => {
      const start = lineAt(first + index)
      const end = lineAt(first + index + 1)
      const at = source.slice(start, end).replace(/\n$/, '').lastIndexOf(line)
      return at === -1 ? start : start + at
    })
}

function lineStarts(source: string): number[] {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
