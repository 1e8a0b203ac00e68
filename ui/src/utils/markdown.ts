//! Markdown of transcripts as HTML that cannot run, load or restyle anything, with keepit passages and the way back to the source.
//!
//! Transcripts are hostile input: HTML in them is shown as text, images are never loaded, links carry no address that the
//! page could follow. Every run of text names the place in the source that it comes from (`data-s`, in UTF-16 units), so that a
//! selection on the screen can be told to the engine.

import MarkdownIt, { type Env, type Token } from 'markdown-it'
import { highlight } from './highlight'
import { alignTokens, type BlockRange } from './markdownSource'
import { escapeHtml, type RenderedHtml } from './html'
import { visibleSource, type Passage } from './passages'
import { weight as weightText, weightName } from './format'

export type { RenderedHtml, Passage }

interface RenderEnv extends Env {
  passages: readonly Passage[]
  /** Passages whose chip is already there. */
  chipped: Set<string>
  toSource: (visible: number) => number
}

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false, breaks: true })
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
// Escapes and entities stay pieces of their own, so that each piece can be found in the source.
markdown.core.ruler.disable('text_join')
// Every address is shown; none is ever followed by the page.
markdown.validateLink = () => true

const rules = markdown.renderer.rules
rules.text = (tokens, index, _options, env) => run(tokens[index], env as RenderEnv)
rules['text_special'] = rules.text
rules.code_inline = (tokens, index, _options, env) => `<code>${run(tokens[index], env as RenderEnv)}</code>`
rules.softbreak = () => '<br>\n'
rules.hardbreak = () => '<br>\n'
rules.fence = (tokens, index, _options, env) => codeBlock(tokens[index], env as RenderEnv)
rules.code_block = rules.fence
rules.link_open = (tokens, index) => {
  const url = String(tokens[index]?.attrGet('href') ?? '')
  return `<span class="md-link" role="link" tabindex="0" data-link="${escapeHtml(url)}" title="${escapeHtml(url)}">`
}
rules.link_close = () => '</span>'
rules.image = (tokens, index) => {
  const token = tokens[index]
  const url = String(token?.attrGet('src') ?? '')
  return `<span class="md-image" title="${escapeHtml(url)}">image${token?.content ? `: ${escapeHtml(token.content)}` : ''}</span>`
}
for (const name of ['th_open', 'td_open'] as const) {
  rules[name] = (tokens, index) => {
    const align = /text-align:\s*(left|right|center)/.exec(String(tokens[index]?.attrGet('style') ?? ''))?.[1]
    return `<${name.slice(0, 2)}${align === undefined ? '' : ` class="align-${align}"`}>`
  }
}
rules['table_open'] = () => '<div class="md-table"><table>'
rules['table_close'] = () => '</table></div>'

/** Renders Markdown, with its keepit passages in amber. Positions of passages are UTF-16 units of `source`. */
export function renderMarkdown(source: string, passages: readonly Passage[] = []): RenderedHtml {
  const { text, toSource } = visibleSource(source, passages)
  const env: RenderEnv = { passages, chipped: new Set(), toSource }
  const tokens = markdown.parse(text, env)
  const blocks = alignTokens(text, tokens)
  let html = ''
  let open: Passage | undefined
  for (const block of blocks) {
    const passage = passageOver(block, env)
    if (passage !== open) {
      if (open !== undefined) html += '</div>'
      if (passage !== undefined) html += `<div class="keep" data-marker="${escapeHtml(passage.markerId)}">${chip(passage, env)}`
      open = passage
    }
    html += markdown.renderer.render(tokens.slice(block.first, block.last + 1), markdown.options, env)
  }
  if (open !== undefined) html += '</div>'
  return html as RenderedHtml
}

/** The passage that holds all words of a block. */
function passageOver(block: BlockRange, env: RenderEnv): Passage | undefined {
  if (block.start === undefined || block.end === undefined) return undefined
  const start = env.toSource(block.start)
  const end = env.toSource(block.end - 1) + 1
  return env.passages.find((passage) => passage.contentStart <= start && end <= passage.end)
}

/** A run of text with its place in the source, cut where passages begin and end. */
function run(token: Token | undefined, env: RenderEnv): string {
  if (token === undefined) return ''
  const meta = token.meta as { start?: number; length?: number } | null
  if (meta?.start === undefined) return escapeHtml(token.content)
  const start = meta.start
  if (meta.length !== undefined) {
    // What is written differs from what is shown (an escape, an entity): one piece, not to be cut.
    const place = env.toSource(start)
    return piece(token.content, place, passageAt(place, env), env, meta.length)
  }
  let html = ''
  let from = 0
  while (from < token.content.length) {
    const place = env.toSource(start + from)
    const passage = passageAt(place, env)
    let to = from + 1
    while (to < token.content.length && env.toSource(start + to) === place + (to - from) && passageAt(place + (to - from), env) === passage) to++
    html += piece(token.content.slice(from, to), place, passage, env)
    from = to
  }
  return html
}

function passageAt(place: number, env: RenderEnv): Passage | undefined {
  return env.passages.length === 0 ? undefined : env.passages.find((passage) => passage.contentStart <= place && place < passage.end)
}

function piece(text: string, place: number, passage: Passage | undefined, env: RenderEnv, length?: number): string {
  const data = `data-s="${String(place)}"${length === undefined ? '' : ` data-n="${String(length)}"`}`
  if (passage === undefined) return `<span ${data}>${escapeHtml(text)}</span>`
  return `${chip(passage, env)}<mark class="keep-run" data-marker="${escapeHtml(passage.markerId)}" ${data}>${escapeHtml(text)}</mark>`
}

function codeBlock(token: Token | undefined, env: RenderEnv): string {
  if (token === undefined) return ''
  const lines = (token.meta as { lines?: number[] } | null)?.lines?.map(env.toSource) ?? []
  const language = token.info.trim().split(/\s+/)[0] ?? ''
  const label = language === '' ? '' : `<span class="md-language">${escapeHtml(language.slice(0, 24))}</span>`
  return `<div class="md-code">${label}<pre><code data-lines="${lines.join(',')}">${highlight(token.content.replace(/\n$/, ''), language)}</code></pre></div>`
}

const RIBBON = '<svg class="ribbon" viewBox="0 0 8 10" aria-hidden="true"><path d="M1 0h6a1 1 0 0 1 1 1v9L4 7 0 10V1a1 1 0 0 1 1-1z"/></svg>'

/** The button of a passage, once. */
function chip(passage: Passage, env: RenderEnv): string {
  if (env.chipped.has(passage.markerId)) return ''
  env.chipped.add(passage.markerId)
  const words = [weightText(passage.weight), weightName(passage.weight)].filter(Boolean).join(' ')
  return `<button type="button" class="keep-chip" data-keepit="${escapeHtml(passage.markerId)}" aria-label="Keepit ${words}, edit">${RIBBON}${words}</button>`
}
