//! What the keepit editor is about: a marker that exists, or a passage that is to be marked.

import type { KeepitMarker } from '../../api/generated/KeepitMarker'
import type { MessageView } from '../../api/generated/MessageView'
import type { Role } from '../../api/generated/Role'
import type { Anchor } from '../shared/UiPopover.vue'

/** A passage chosen on the screen; positions count Unicode characters of the message's text. */
export interface Passage {
  message: MessageView
  start: number
  end: number
  text: string
  rect: DOMRect
}

export type KeepitTarget = { mode: 'edit'; marker: KeepitMarker } | { mode: 'add'; passage: Passage }

/** `message 231, written by you`. */
export function targetWords(target: KeepitTarget, known?: Role): string {
  const index = target.mode === 'edit' ? target.marker.message_index : target.passage.message.index
  const role = target.mode === 'edit' ? known : target.passage.message.role
  const by = role === 'user' ? ', written by you' : role === 'assistant' ? ', written by Claude' : ''
  return `message ${String(index + 1)}${by}`
}

interface Place {
  getBoundingClientRect(): DOMRect
}

/** Of a long passage the editor covers what lies below this. */
const TALLEST = 96

/** The upper part of what is marked. */
export function upperPart(place: Place): DOMRect {
  const { x, y, width, height } = place.getBoundingClientRect()
  return new DOMRect(x, y, width, Math.min(height, TALLEST))
}

/** A place on a scrolling list: it follows what it stands by, and stays where that was when the list lets go of it. */
export function steadyAnchor(element: HTMLElement | undefined, place: Place): Anchor & { contextElement?: HTMLElement } {
  let last = upperPart(place)
  const anchor = {
    getBoundingClientRect: () => {
      const next = upperPart(place)
      if (element?.isConnected !== false && (next.width > 0 || next.height > 0)) last = next
      return last
    },
  }
  return element === undefined ? anchor : { ...anchor, contextElement: element }
}
