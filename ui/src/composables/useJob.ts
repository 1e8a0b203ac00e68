//! One job at a time, as refs: progress, failure, result, cancel.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import type { CommandName, RequestOf, ResponseOf } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import type { Progress } from '../api/generated/Progress'
import { startJob, type Job } from '../api/jobs'

export interface JobState<Name extends CommandName> {
  running: Ref<boolean>
  cancelling: Ref<boolean>
  progress: ShallowRef<Progress | undefined>
  error: ShallowRef<EngineError | undefined>
  result: ShallowRef<ResponseOf<Name> | undefined>
  /** Starts it; fulfilled with its response, or with nothing when it failed or was cancelled (see `error`). */
  start: (request: RequestOf<Name>) => Promise<ResponseOf<Name> | undefined>
  cancel: () => Promise<void>
  reset: () => void
}

export function useJob<Name extends CommandName>(command: Name): JobState<Name> {
  const running = ref(false)
  const cancelling = ref(false)
  const progress = shallowRef<Progress>()
  const error = shallowRef<EngineError>()
  const result = shallowRef<ResponseOf<Name>>()
  let job: Job<ResponseOf<Name>> | undefined

  function reset(): void {
    progress.value = undefined
    error.value = undefined
    result.value = undefined
    cancelling.value = false
  }

  async function start(request: RequestOf<Name>): Promise<ResponseOf<Name> | undefined> {
    if (running.value) return undefined
    reset()
    running.value = true
    job = startJob(command, request, { onProgress: (next) => (progress.value = next) })
    try {
      result.value = await job.done
      return result.value
    } catch (failure) {
      error.value = toEngineError(failure)
      return undefined
    } finally {
      running.value = false
      cancelling.value = false
    }
  }

  async function cancel(): Promise<void> {
    cancelling.value = true
    await job?.cancel()
  }

  return { running, cancelling, progress, error, result, start, cancel, reset }
}
