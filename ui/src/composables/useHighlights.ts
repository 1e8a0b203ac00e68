//! Marks words on screen by the browser's own highlights, which change nothing in the page.

import { onScopeDispose } from 'vue'

const NAME = 'find'

export interface Highlights {
  /** Marks all places of these words; none of them takes the marks away. Gives the places. */
  show: (root: HTMLElement | null, ...wanted: string[]) => Range[]
}

export function useHighlights(): Highlights {
  const supported = 'highlights' in CSS && typeof Highlight !== 'undefined'
  function show(root: HTMLElement | null, ...wanted: string[]): Range[] {
    if (!supported) return []
    CSS.highlights.delete(NAME)
    const sought = wanted.map((each) => each.trim().toLowerCase()).filter((words) => words !== '')
    if (root === null || sought.length === 0) return []
    const ranges: Range[] = []
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.nodeValue?.toLowerCase() ?? ''
      for (const words of sought) {
        for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
          const range = new Range()
          range.setStart(node, at)
          range.setEnd(node, at + words.length)
          ranges.push(range)
        }
      }
    }
    CSS.highlights.set(NAME, new Highlight(...ranges))
    return ranges
  }
  onScopeDispose(() => void show(null))
  return { show }
}
