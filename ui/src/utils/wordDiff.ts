//! One text against another, word by word, as it is read: what both say, what only this one says, what it lacks.

import { diffWordsWithSpace } from 'diff'

export interface WordPart {
  kind: 'same' | 'added' | 'removed'
  text: string
}

export function wordParts(first: string, other: string): WordPart[] {
  return diffWordsWithSpace(first, other).map((change) => ({ kind: change.added ? 'added' : change.removed ? 'removed' : 'same', text: change.value }))
}

/** Stretches that both say are shortened to so many words around a difference. */
export function aroundDifferences(parts: readonly WordPart[], words: number): WordPart[] {
  return parts.map((part, at) => {
    if (part.kind !== 'same') return part
    const pieces = part.text.split(/(\s+)/)
    const most = words * 2
    if (pieces.length <= most * 2 + 2) return part
    const head = at === 0 ? '' : pieces.slice(0, most).join('')
    const tail = at === parts.length - 1 ? '' : pieces.slice(-most).join('')
    return { kind: 'same', text: `${head} … ${tail}` }
  })
}
