import { afterEach, describe, expect, it } from 'vitest'
import { renderMarkdown } from './markdown'
import { sourceRange } from './selection'

afterEach(() => document.body.replaceChildren())

/** Shows a text block that begins at 7 of its message's text, and finds words in it. */
function show(source: string): { block: HTMLElement; select: (from: string, to?: string) => Range } {
  const block = document.createElement('div')
  block.dataset['message'] = 'u1'
  block.dataset['index'] = '3'
  block.dataset['base'] = '7'
  block.append(...new DOMParser().parseFromString(renderMarkdown(source), 'text/html').body.childNodes)
  document.body.append(block)
  const point = (words: string, end: boolean): [Node, number] => {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const at = node.nodeValue?.indexOf(words) ?? -1
      if (at !== -1) return [node, end ? at + words.length : at]
    }
    throw new Error(`“${words}” is not on screen`)
  }
  return {
    block,
    select: (from, to = from) => {
      const range = document.createRange()
      range.setStart(...point(from, false))
      range.setEnd(...point(to, true))
      return range
    },
  }
}

describe('a selection', () => {
  it.each([
    ['Refresh is **single-flight** per session.', 'is', 'per', 'is **single-flight** per'],
    ['- one `two` three\n- four', 'two', 'four', 'two` three\n- four'],
    ['first line\nsecond line', 'line', 'second', 'line\nsecond'],
    ['See [the docs](https://x.example/docs) now', 'docs', 'now', 'docs](https://x.example/docs) now'],
    ['😀 emoji **ß** and more', 'emoji', 'and', 'emoji **ß** and'],
    ['| a | b |\n|---|---|\n| one | two |', 'one', 'two', 'one | two'],
  ])('in %j from %j to %j is the source between them', (source, from, to, expected) => {
    const found = sourceRange(show(source).select(from, to))
    expect(found).toMatchObject({ message: 'u1', index: 3 })
    expect(source.slice((found?.start ?? 0) - 7, (found?.end ?? 0) - 7)).toBe(expected)
  })

  it('over the lines of coloured code is found by line and column', () => {
    const source = 'Look:\n\n```ts\nconst a = 1\n  return b\n```\n'
    const { block, select } = show(source)
    const range = select('a = ', 'b')
    expect(block.querySelector('.hljs-keyword'), 'the code is coloured').not.toBeNull()
    const found = sourceRange(range)
    expect(source.slice((found?.start ?? 0) - 7, (found?.end ?? 0) - 7)).toBe('a = 1\n  return b')
  })

  it('takes an escape whole', () => {
    const source = 'a \\* b'
    const { block } = show(source)
    const range = document.createRange()
    range.selectNodeContents(block)
    const found = sourceRange(range)
    expect(source.slice((found?.start ?? 0) - 7, (found?.end ?? 0) - 7)).toBe(source)
  })

  it('that reaches over several messages is that of the first', () => {
    const first = show('one two')
    const second = show('three four')
    second.block.dataset['message'] = 'u2'
    second.block.dataset['index'] = '4'
    const range = document.createRange()
    range.setStart(first.select('two').startContainer, 4)
    range.setEnd(second.select('three').endContainer, 5)
    expect(sourceRange(range)).toMatchObject({ message: 'u1', start: 7 + 4, end: 7 + 7 })
  })

  it('outside of messages is none', () => {
    document.body.append('words')
    const range = document.createRange()
    range.selectNodeContents(document.body)
    expect(sourceRange(range)).toBeUndefined()
  })
})
