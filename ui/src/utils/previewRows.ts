//! What a composition would say, as rows of a list: a heading for each component, then its messages.

import type { Component } from '../api/generated/Component'
import type { ComposedMessage } from '../api/generated/ComposedMessage'
import type { CompositionPreview } from '../api/generated/CompositionPreview'

export type PreviewRow = { kind: 'component'; key: string; component: Component } | { kind: 'message'; key: string; component: Component; message: ComposedMessage }

export function previewRows(preview: CompositionPreview): PreviewRow[] {
  const rows: PreviewRow[] = []
  const messages = new Map<number, ComposedMessage[]>()
  for (const message of preview.messages) {
    const known = messages.get(message.component)
    if (known === undefined) messages.set(message.component, [message])
    else known.push(message)
  }
  for (const component of [...preview.components].sort((left, right) => left.order - right.order)) {
    rows.push({ kind: 'component', key: `component:${component.session_id}`, component })
    for (const message of messages.get(component.order) ?? []) {
      rows.push({ kind: 'message', key: `${component.session_id}:${String(message.index)}:${message.uuid}`, component, message })
    }
  }
  return rows
}

/** `96 messages, 25 of 28 keepits`. */
export function keepitTotals(components: readonly Component[]): { kept: number; total: number } {
  return components.reduce((sum, component) => ({ kept: sum.kept + component.keepits_kept, total: sum.total + component.keepits_total }), { kept: 0, total: 0 })
}
