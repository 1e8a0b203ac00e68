//! Dragging sessions out of a list, and taking them in: pointer based, for the window's file drop leaves no HTML5 drag.
//!
//! The whole window is in one `DragDropProvider` (App.vue). A row calls `useSessionDrag`; whoever takes sessions listens with
//! `useSessionDrop`. Lists that re-order use `useSortable` of `@dnd-kit/vue/sortable` in the same provider.

import { Accessibility } from '@dnd-kit/dom'
import { useDraggable, useDragDropMonitor } from '@dnd-kit/vue'
import { computed, toValue, type MaybeRefOrGetter, type Ref } from 'vue'
import type { SessionId } from '../api/generated/SessionId'

/** The kind of a draggable that carries sessions; give it to `accept` of a droppable or sortable. */
export const SESSION_DRAG = 'sessions'

/** What a drag out of the list carries. */
export interface SessionDragData {
  sessionIds: SessionId[]
  /** Title of the row under the pointer, for the card that follows it. */
  title: string
  tokens: number
  [key: string]: unknown
}

export interface SessionDragOptions {
  element: MaybeRefOrGetter<HTMLElement | null>
  id: MaybeRefOrGetter<string>
  data: MaybeRefOrGetter<SessionDragData>
  disabled?: MaybeRefOrGetter<boolean>
}

/** Makes a row draggable; `dragging` while it is. */
export function useSessionDrag(options: SessionDragOptions): { dragging: Ref<boolean> } {
  const { isDragSource } = useDraggable({
    id: computed(() => `session:${toValue(options.id)}`),
    element: computed(() => toValue(options.element)),
    data: computed(() => toValue(options.data)),
    type: SESSION_DRAG,
    disabled: computed(() => toValue(options.disabled ?? false)),
  })
  return { dragging: computed(() => Boolean(isDragSource.value)) as Ref<boolean> }
}

/** The sessions that a draggable carries; nothing when it carries others. */
export function draggedSessions(source: { type?: unknown; data?: unknown } | null | undefined): SessionDragData | undefined {
  if (source?.type !== SESSION_DRAG) return undefined
  const data = source.data
  return typeof data === 'object' && data !== null && 'sessionIds' in data ? (data as SessionDragData) : undefined
}

/** What a screen reader says of a drag: titles, where the library would read out ids. */
export const spokenDrags = Accessibility.configure({
  announcements: {
    dragstart: ({ operation }: SpokenDrag) => spoken(operation.source, 'picked up'),
    dragend: ({ operation, canceled }: SpokenDrag & { canceled: boolean }) => spoken(operation.source, canceled ? 'put back' : 'let go'),
  },
  screenReaderInstructions: { draggable: 'Space picks it up, the arrow keys move it, Space lets it go, Escape puts it back.' },
})

interface SpokenDrag {
  operation: { source: { type?: unknown; data?: unknown } | null }
}

function spoken(source: SpokenDrag['operation']['source'], what: string): string | undefined {
  const data = draggedSessions(source)
  if (data === undefined) return undefined
  return data.sessionIds.length > 1 ? `${String(data.sessionIds.length)} sessions ${what}` : `${data.title} ${what}`
}

export interface SessionDropOptions {
  /** Sessions are dragged over a target of the caller. */
  onOver?: (data: SessionDragData, targetId: string | number | undefined) => void
  /** Sessions were dropped on a target. */
  onDrop: (data: SessionDragData, targetId: string | number) => void
  /** The drag ended elsewhere. */
  onCancel?: () => void
}

/** Hears sessions dragged over and dropped on any droppable below the provider. */
export function useSessionDrop(options: SessionDropOptions): void {
  useDragDropMonitor({
    onDragOver(event) {
      const data = draggedSessions(event.operation.source)
      if (data !== undefined) options.onOver?.(data, event.operation.target?.id)
    },
    onDragEnd(event) {
      const data = draggedSessions(event.operation.source)
      if (data === undefined) return
      const target = event.operation.target
      if (event.canceled || target === null) options.onCancel?.()
      else options.onDrop(data, target.id)
    },
  })
}
