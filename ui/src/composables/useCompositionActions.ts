//! What can be done with a composition that exists: use it again, duplicate it, show its files, delete it.

import { useRouter } from 'vue-router'
import { call, shell } from '../api/call'
import type { CompositionDetail } from '../api/generated/CompositionDetail'
import { draft, replaceDraft } from '../state/compositionDraft'
import { showToast } from '../state/toasts'
import { draftOf } from '../utils/compositionDraft'
import { freeName } from '../utils/compositionName'

export interface CompositionActions {
  /** Puts it into the builder under its own name: composing replaces it. */
  reuse: (name: string) => Promise<void>
  /** Puts it into the builder under a free name. */
  duplicate: (name: string, taken: readonly string[]) => Promise<void>
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
    duplicate: (name, taken) => intoBuilder(name, freeName(name, taken), []),
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
