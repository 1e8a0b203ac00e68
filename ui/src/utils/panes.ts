//! Going from pane to pane with one key, past whatever stands in between.

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex]:not([tabindex="-1"])'

/** Focuses the pane after the one that has the focus, or before it; tells whether there was one. */
export function focusPane(root: ParentNode, back: boolean): boolean {
  // A list within the main pane is a stop of its own; what is folded away is none.
  const panes = [...root.querySelectorAll<HTMLElement>('nav, [role="listbox"], main')].filter((pane) => pane.checkVisibility?.() ?? true)
  const active = document.activeElement
  const at = panes.findLastIndex((pane) => pane.contains(active))
  for (let step = 1; step <= panes.length; step++) {
    const from = at === -1 && back ? 0 : at
    const pane = panes[(from + (back ? -step : step) + panes.length * 2) % panes.length]
    if (pane !== undefined && enter(pane)) return true
  }
  return false
}

function enter(pane: HTMLElement): boolean {
  const target = pane.matches('[tabindex]') ? pane : (pane.querySelector<HTMLElement>('[aria-current="page"]') ?? pane.querySelector<HTMLElement>(FOCUSABLE))
  target?.focus({ focusVisible: true } as FocusOptions)
  return target !== null && document.activeElement === target
}
