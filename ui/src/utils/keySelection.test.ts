import { beforeEach, describe, expect, it, vi } from 'vitest'
import { passageToSelect } from './keySelection'

/** A conversation of messages with paragraphs, each 100 pixels high, scrolled by so much. */
function conversation(messages: string[][], scrolled: number): HTMLElement {
  const root = document.createElement('div')
  vi.spyOn(root, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 100, 250))
  let top = -scrolled
  messages.forEach((paragraphs, index) => {
    const text = document.createElement('div')
    text.className = 'message-text'
    text.dataset['index'] = String(index)
    for (const words of paragraphs) {
      const block = document.createElement('p')
      block.textContent = words
      vi.spyOn(block, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, top, 100, 100))
      top += 100
      text.append(block)
    }
    root.append(text)
  })
  document.body.append(root)
  return root
}

describe('the passage that a key selects', () => {
  beforeEach(() => document.body.replaceChildren())
  const messages = [['one'], ['use a lock', 'per window'], ['four']]

  it('is the first that is wholly in view', () => {
    expect(passageToSelect(conversation(messages, 150), undefined)?.textContent).toBe('per window')
  })

  it('is the one that holds what was found, when that is in view', () => {
    expect(passageToSelect(conversation(messages, 50), { index: 1, words: 'Window' })?.textContent).toBe('per window')
    expect(passageToSelect(conversation(messages, 0), { index: 2, words: 'four' })?.textContent, 'what was found is below').toBe('one')
  })

  it('is none without text', () => {
    expect(passageToSelect(conversation([], 0), undefined)).toBeUndefined()
  })
})
