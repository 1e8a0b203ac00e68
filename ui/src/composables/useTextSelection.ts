//! Words that are selected within a conversation, as a stretch of a message's text in characters, as the engine counts.

import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import type { MessageView } from '../api/generated/MessageView'
import { unitToCodePoint } from '../utils/offsets'
import { sourceRange } from '../utils/selection'

/** A passage that could be kept: positions count characters of the message's text. */
export interface SelectedPassage {
  message: MessageView
  start: number
  end: number
  /** The words, as they stand in the source. */
  text: string
  rect: DOMRect
}

export function useTextSelection(root: () => HTMLElement | null, messageAt: (index: number) => MessageView | undefined): { passage: ShallowRef<SelectedPassage | undefined>; clear: () => void } {
  const passage = shallowRef<SelectedPassage>()
  let pressing = false

  function read(): void {
    passage.value = pressing ? undefined : selected(root(), messageAt)
  }
  function down(event: PointerEvent): void {
    // A press on what floats over the selection must leave it.
    if (event.target instanceof Element && event.target.closest('.float') !== null) return
    pressing = true
    passage.value = undefined
  }
  function up(): void {
    pressing = false
    setTimeout(read)
  }
  document.addEventListener('selectionchange', read)
  document.addEventListener('pointerdown', down, true)
  document.addEventListener('pointerup', up, true)
  onScopeDispose(() => {
    document.removeEventListener('selectionchange', read)
    document.removeEventListener('pointerdown', down, true)
    document.removeEventListener('pointerup', up, true)
  })

  function clear(): void {
    document.getSelection()?.removeAllRanges()
    passage.value = undefined
  }
  return { passage, clear }
}

function selected(root: HTMLElement | null, messageAt: (index: number) => MessageView | undefined): SelectedPassage | undefined {
  const selection = document.getSelection()
  if (root === null || selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  if (!root.contains(range.commonAncestorContainer)) return undefined
  const found = sourceRange(range)
  if (found === undefined) return undefined
  const message = messageAt(found.index)
  if (message === undefined) return undefined
  const text = message.text.slice(found.start, found.end)
  if (text.trim() === '') return undefined
  // Blanks at the edges of a selection are never what was meant.
  const start = found.start + (text.length - text.trimStart().length)
  const end = found.end - (text.length - text.trimEnd().length)
  return { message, start: unitToCodePoint(message.text, start), end: unitToCodePoint(message.text, end), text: text.trim(), rect: range.getBoundingClientRect() }
}
