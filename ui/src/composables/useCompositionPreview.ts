//! What a composition would be, while it is being built: the latest request wins, an older one is stopped, answers are remembered.

import { computed, onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { toEngineError, type EngineError } from '../api/errors'
import type { CompositionPreview } from '../api/generated/CompositionPreview'
import type { CompositionRequest } from '../api/generated/CompositionRequest'
import type { Progress } from '../api/generated/Progress'
import { startJob, type Job } from '../api/jobs'
import { compositionsRevision, sessionsRevision } from '../state/memory'

const REMEMBERED = 12
/** Under this many milliseconds, work shows no sign of itself. */
const QUIET_MS = 200

export interface PreviewState {
  /** The latest answer; of an older request while `pending`. */
  preview: ShallowRef<CompositionPreview | undefined>
  /** The request that `preview` answers. */
  answered: ShallowRef<CompositionRequest | undefined>
  error: ShallowRef<EngineError | undefined>
  pending: Ref<boolean>
  slow: Ref<boolean>
  progress: ShallowRef<Progress | undefined>
  /** The user stopped it. */
  stopped: Ref<boolean>
  cancel: () => void
  run: () => void
}

const answers = new Map<string, CompositionPreview>()
let answersOf = ''

/** Answers hold only as long as the memory is as it was. */
function remembered(key: string): CompositionPreview | undefined {
  const revision = `${String(sessionsRevision.value)}/${String(compositionsRevision.value)}`
  if (revision !== answersOf) {
    answers.clear()
    answersOf = revision
  }
  return answers.get(key)
}

function remember(key: string, answer: CompositionPreview): void {
  answers.delete(key)
  answers.set(key, answer)
  const oldest = answers.keys().next().value
  if (answers.size > REMEMBERED && oldest !== undefined) answers.delete(oldest)
}

/** Forgets all answers. */
export function forgetPreviews(): void {
  answers.clear()
}

export function useCompositionPreview(request: Ref<CompositionRequest | undefined>, delay = 200): PreviewState {
  const preview = shallowRef<CompositionPreview>()
  const answered = shallowRef<CompositionRequest>()
  const error = shallowRef<EngineError>()
  const progress = shallowRef<Progress>()
  const pending = ref(false)
  const slow = ref(false)
  const stopped = ref(false)
  // Its text tells requests apart: a draft that only looks new asks nothing.
  const key = computed(() => (request.value === undefined ? undefined : JSON.stringify(request.value)))
  let turn = 0
  let job: Job<CompositionPreview> | undefined
  let wait: ReturnType<typeof setTimeout> | undefined
  let quiet: ReturnType<typeof setTimeout> | undefined

  function settle(): void {
    clearTimeout(wait)
    clearTimeout(quiet)
    turn++
    void job?.cancel().catch(() => undefined)
    job = undefined
    pending.value = false
    slow.value = false
    progress.value = undefined
  }

  function show(asked: CompositionRequest, answer: CompositionPreview): void {
    preview.value = answer
    answered.value = asked
    error.value = undefined
  }

  async function ask(asked: CompositionRequest, askedKey: string): Promise<void> {
    const mine = ++turn
    const current = startJob('composition_preview', asked, { onProgress: (next) => mine === turn && (progress.value = next) })
    job = current
    try {
      const answer = await current.done
      remembered(askedKey)
      remember(askedKey, answer)
      if (mine !== turn) return
      show(asked, answer)
    } catch (failure) {
      if (mine !== turn) return
      const problem = toEngineError(failure)
      if (problem.cancelled) stopped.value = true
      else {
        error.value = problem
        preview.value = undefined
        answered.value = undefined
      }
    }
    job = undefined
    clearTimeout(quiet)
    pending.value = false
    slow.value = false
    progress.value = undefined
  }

  function run(): void {
    settle()
    stopped.value = false
    const asked = request.value
    const askedKey = key.value
    if (asked === undefined || askedKey === undefined) {
      preview.value = undefined
      answered.value = undefined
      error.value = undefined
      return
    }
    const known = remembered(askedKey)
    if (known !== undefined) {
      show(asked, known)
      return
    }
    pending.value = true
    quiet = setTimeout(() => (slow.value = true), delay + QUIET_MS)
    wait = setTimeout(() => void ask(asked, askedKey), delay)
  }

  watch([key, sessionsRevision, compositionsRevision], run, { immediate: true })
  onScopeDispose(settle)

  function cancel(): void {
    settle()
    stopped.value = true
  }

  return { preview, answered, error, pending, slow, progress, stopped, cancel, run }
}
