//! Dragging into the timeline and along it: follows the pointer, says before which card it is, and drops there.

import { useDragDropMonitor } from '@dnd-kit/vue'
import { shallowRef, type Ref, type ShallowRef } from 'vue'
import { insertionAt, type Extent } from '../utils/timeline'
import { draggedSessions, type SessionDragData } from './useSessionDrag'

/** What is over the timeline. */
export interface TimelineDrag {
  data: SessionDragData
  /** The card that is re-ordered; nothing when sessions come from the list. */
  card: string | undefined
  /** Before which card, counted without the one that is re-ordered; nothing while the pointer is elsewhere. */
  at: number | undefined
}

export interface TimelineDragOptions {
  /** Sessions may be dropped anywhere in it. */
  area: Ref<HTMLElement | null>
  /** Where the cards are, without the one that is re-ordered. */
  cards: (without: string | undefined) => Extent[]
  drop: (drag: TimelineDrag, at: number) => void
}

/** The id of the card in a drag that began on the timeline. */
export function cardOf(data: SessionDragData): string | undefined {
  return typeof data['card'] === 'string' ? data['card'] : undefined
}

export function useTimelineDrag(options: TimelineDragOptions): { drag: ShallowRef<TimelineDrag | undefined> } {
  const drag = shallowRef<TimelineDrag>()

  function follow(source: { type?: unknown; data?: unknown } | null | undefined, point: { x: number; y: number }): void {
    const data = draggedSessions(source)
    if (data === undefined) return
    const card = cardOf(data)
    const box = options.area.value?.getBoundingClientRect()
    const inside = box !== undefined && point.x >= box.left && point.x <= box.right && point.y >= box.top && point.y <= box.bottom
    const at = inside ? insertionAt(point.x, options.cards(card)) : undefined
    if (drag.value?.data !== data || drag.value.at !== at) drag.value = { data, card, at }
  }

  useDragDropMonitor({
    onDragStart: (event) => follow(event.operation.source, event.operation.position.current),
    onDragMove(event) {
      follow(event.operation.source, event.to ?? event.operation.position.current)
    },
    onDragEnd(event) {
      if (draggedSessions(event.operation.source) === undefined) return
      follow(event.operation.source, event.operation.position.current)
      const last = drag.value
      drag.value = undefined
      if (!event.canceled && last?.at !== undefined) options.drop(last, last.at)
    },
  })
  return { drag }
}
