//! Components within what the frame provides: tooltips, drag and drop.

import { DragDropProvider } from '@dnd-kit/vue'
import { TooltipProvider } from 'reka-ui'
import { defineComponent, h, type Component } from 'vue'

export function withProviders(component: Component, props: Record<string, unknown>): Component {
  return defineComponent({
    render: () => h(TooltipProvider, null, { default: () => h(DragDropProvider, null, { default: () => h(component, props) }) }),
  })
}
