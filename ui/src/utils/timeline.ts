//! Where on the timeline a dragged card would stand.

export interface Extent {
  left: number
  right: number
}

/** Before which card the pointer is: the cards whose middle it has passed stay before it. */
export function insertionAt(pointerX: number, cards: readonly Extent[]): number {
  return cards.filter((card) => pointerX > (card.left + card.right) / 2).length
}

/** `first`, `between 2 and 3`, `after 3`; with the numbers that the cards have now. */
export function placeWords(at: number, cards: number): string {
  if (cards === 0) return 'as the first'
  if (at === 0) return 'before 1'
  return at >= cards ? `after ${String(cards)}` : `between ${String(at)} and ${String(at + 1)}`
}
