//! What every test starts from: matchers, what jsdom has not (it lays nothing out), and an empty page after each.

import '@testing-library/jest-dom/vitest'
import { cleanup } from '@testing-library/vue'
import { afterEach } from 'vitest'

class NoLayoutObserver implements ResizeObserver {
  observe(): void {
    // Nothing has a size here.
  }
  unobserve(): void {
    // As above.
  }
  disconnect(): void {
    // As above.
  }
}
globalThis.ResizeObserver ??= NoLayoutObserver
Element.prototype.scrollIntoView ??= () => undefined
Element.prototype.hasPointerCapture ??= () => false
Element.prototype.setPointerCapture ??= () => undefined
Element.prototype.releasePointerCapture ??= () => undefined

afterEach(() => cleanup())

// Lists that show what is near the screen get a screen of this size.
Object.defineProperties(HTMLElement.prototype, {
  clientHeight: { configurable: true, get: () => 800 },
  clientWidth: { configurable: true, get: () => 400 },
})
Element.prototype.scrollTo ??= () => undefined

// No window is wide here: media queries match nothing.
window.matchMedia ??= (query) => Object.assign(new EventTarget(), { matches: false, media: query, onchange: null, addListener: () => undefined, removeListener: () => undefined })
