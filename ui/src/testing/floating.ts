//! Renders what floats: it draws at the end of the page, so that it needs something to stand in, as the frame is.

import { render } from '@testing-library/vue'
import { TooltipProvider } from 'reka-ui'
import { defineComponent, h, type Component } from 'vue'

export interface Floating {
  /** What the component told, by name. */
  told: Record<string, unknown[][]>
}

export function renderFloating(component: Component, props: Record<string, unknown>, events: readonly string[] = []): Floating {
  const told: Floating['told'] = {}
  const listeners = Object.fromEntries(
    events.map((event) => [
      `on${event.charAt(0).toUpperCase()}${event.slice(1)}`,
      (...given: unknown[]) => {
        told[event] = [...(told[event] ?? []), given]
      },
    ]),
  )
  render(defineComponent({ render: () => h(TooltipProvider, () => h('div', [h(component, { ...props, ...listeners })])) }))
  return { told }
}
