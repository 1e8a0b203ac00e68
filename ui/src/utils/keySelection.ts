//! Selecting a passage without a pointer: the paragraph that holds what was found, or the first one in view.

const BLOCKS = 'p, li, pre, blockquote, h1, h2, h3, h4, h5, h6, td, .keep'

export interface Wanted {
  /** Index of the message. */
  index: number
  words: string
}

/** The paragraph to select within a conversation; nothing when no text of a message is in view. */
export function passageToSelect(root: HTMLElement, wanted: Wanted | undefined): HTMLElement | undefined {
  const view = root.getBoundingClientRect()
  const texts = [...root.querySelectorAll<HTMLElement>('.message-text[data-index]')]
  const blocks = texts.flatMap((text) => {
    const inside = [...text.querySelectorAll<HTMLElement>(BLOCKS)].filter((block) => block.querySelector(BLOCKS) === null && block.textContent.trim() !== '')
    return (inside.length > 0 ? inside : [text]).map((block) => ({ block, index: Number(text.dataset['index']), box: block.getBoundingClientRect() }))
  })
  const seen = blocks.filter(({ box }) => box.bottom > view.top && box.top < view.bottom)
  const words = wanted?.words.trim().toLowerCase() ?? ''
  const found = words === '' ? undefined : seen.find(({ block, index }) => index === wanted?.index && block.textContent.toLowerCase().includes(words))
  // What begins above the edge is read already.
  return (found ?? seen.find(({ box }) => box.top >= view.top) ?? seen[0])?.block
}
