//! HTML made by this program, told apart from any other text by its type.

declare const rendered: unique symbol

/** HTML that a renderer of this folder made from escaped text. */
export type RenderedHtml = string & { readonly [rendered]: true }

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}
