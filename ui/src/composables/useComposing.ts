//! Composing the draft: checks before, the question before replacing, the job, its files.

import { computed, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { shell } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import type { Composition } from '../api/generated/Composition'
import { draft, isOwnName, markComposed, upToDate } from '../state/compositionDraft'
import { draftFault, requestOf } from '../utils/compositionDraft'
import { nameFault } from '../utils/compositionName'
import { useJob, type JobState } from './useJob'

export interface Composing {
  job: JobState<'composition_create'>
  error: ShallowRef<EngineError | undefined>
  /** The user tried to compose: an empty name is a fault from then on. */
  tried: Ref<boolean>
  /** Why the draft cannot be composed, beside its name; nothing when it can. */
  obstacle: ComputedRef<string | undefined>
  /** The question whether to replace is open. */
  asking: Ref<boolean>
  /** The composition that would be replaced. */
  rival: ComputedRef<Composition | undefined>
  answer: (replace: boolean) => void
  /** Composes, unless the draft is composed as it stands. `name`: the name is at fault. Nothing: it failed, or the user thought better of it. */
  compose: () => Promise<Composition | 'name' | undefined>
  exportMarkdown: (composition: Composition) => Promise<void>
  dismiss: () => void
}

export function useComposing(compositions: () => readonly Composition[]): Composing {
  const job = useJob('composition_create')
  const failure = shallowRef<EngineError>()
  const tried = ref(false)
  const asking = ref(false)
  let resolveQuestion: ((replace: boolean) => void) | undefined

  const error = computed(() => failure.value ?? job.error.value)
  const rival = computed(() => compositions().find((each) => each.name.toLowerCase() === draft.value.name.toLowerCase()))
  const obstacle = computed(() => {
    const fault = draftFault(draft.value)
    return fault === undefined && !draft.value.markdown && !draft.value.jsonl ? 'Choose Markdown, JSONL or both' : fault
  })

  function answer(replace: boolean): void {
    asking.value = false
    resolveQuestion?.(replace)
    resolveQuestion = undefined
  }

  async function mayReplace(): Promise<boolean> {
    if (rival.value === undefined || isOwnName(draft.value.name)) return true
    asking.value = true
    return await new Promise<boolean>((resolve) => (resolveQuestion = resolve))
  }

  async function compose(): Promise<Composition | 'name' | undefined> {
    if (job.running.value || obstacle.value !== undefined) return undefined
    tried.value = true
    if (nameFault(draft.value.name) !== undefined) return 'name'
    if (upToDate.value !== undefined) return upToDate.value
    const replace = rival.value !== undefined
    if (!(await mayReplace())) return undefined
    const from = draft.value
    const request = requestOf(from, { name: from.name, replace })
    if (request === undefined) return undefined
    failure.value = undefined
    const composition = await job.start(request)
    if (composition !== undefined) {
      markComposed(from, composition)
      tried.value = false
    }
    return composition
  }

  async function exportMarkdown(composition: Composition): Promise<void> {
    const path = composition.files.find((file) => file.endsWith('.md')) ?? composition.files[0]
    if (path === undefined) return
    try {
      await shell({ action: 'reveal', path })
    } catch (problem) {
      failure.value = toEngineError(problem)
    }
  }

  function dismiss(): void {
    failure.value = undefined
    job.reset()
  }

  return { job, error, tried, obstacle, asking, rival, answer, compose, exportMarkdown, dismiss }
}
