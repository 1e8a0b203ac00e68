//! What can be done with a composition that exists: use it again, duplicate it, show its files, delete it.

import { useRouter } from 'vue-router'
import { call, shell } from '../api/call'
import type { ExportFormat } from '../api/generated/ExportFormat'
import type { CompositionDetail } from '../api/generated/CompositionDetail'
import { draft, replaceDraft } from '../state/compositionDraft'
import { showToast } from '../state/toasts'
import { copyText } from '../utils/clipboard'
import { count } from '../utils/format'
import { draftOf } from '../utils/compositionDraft'
import { freeName } from '../utils/compositionName'

/** The texts of a composition, by name. */
export const EXPORTS: Record<ExportFormat, string> = { markdown: 'Markdown', jsonl: 'JSONL', xml: 'an XML prompt', prompt: 'plain text' }

export interface CompositionActions {
  /** Puts it into the builder under its own name: composing replaces it. */
  reuse: (name: string) => Promise<void>
  /** Copies it under a free name. */
  duplicate: (name: string, taken: readonly string[]) => Promise<void>
  /** Puts a text of it on the clipboard. */
  exported: (name: string, format: ExportFormat) => Promise<void>
  /** Shows its file in the file manager: the Markdown, when it has one. */
  reveal: (files: readonly string[]) => Promise<void>
  remove: (name: string) => Promise<void>
}

export function useCompositionActions(): CompositionActions {
  const router = useRouter()

  async function intoBuilder(name: string, asName: string, owns: readonly string[]): Promise<void> {
    const detail: CompositionDetail = await call('composition_get', { name })
    const before = draft.value.cards.length
    replaceDraft(draftOf(detail.request, detail.composition.components, asName), owns)
    await router.push({ name: 'compositions' })
    if (before > 0) showToast({ title: 'The draft was replaced', text: 'Undo brings the one before back.' })
  }

  return {
    reuse: (name) => intoBuilder(name, name, [name]),
    async duplicate(name, taken) {
      const copy = await call('composition_duplicate', { name, new_name: freeName(name, taken) })
      showToast({ title: `Copied as ${copy.name}`, action: { label: 'Edit', run: () => void intoBuilder(copy.name, copy.name, [copy.name]) } })
    },
    async exported(name, format) {
      const { text, tokens, note } = await call('composition_export', { name, format })
      const copied = await copyText(text)
      showToast(copied ? { title: `Copied as ${EXPORTS[format]}`, text: note ?? `${count(tokens)} tokens`, ...(note == null ? {} : { tone: 'warn' as const }) } : { title: 'The clipboard cannot be written', text: 'Show the files in their folder instead.', tone: 'warn' })
    },
    async reveal(files) {
      const path = files.find((file) => file.endsWith('.md')) ?? files[0]
      if (path !== undefined) await shell({ action: 'reveal', path })
    },
    async remove(name) {
      await call('composition_remove', { name })
      showToast({ title: `Deleted ${name}` })
    },
  }
}
