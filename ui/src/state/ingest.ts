//! Taking files into memory: one job at a time for the whole window, whose report the result sheet shows.

import { computed, ref, shallowRef } from 'vue'
import { toEngineError, type EngineError } from '../api/errors'
import type { IngestReport } from '../api/generated/IngestReport'
import type { IngestRequest } from '../api/generated/IngestRequest'
import type { Progress } from '../api/generated/Progress'
import { startJob, type Job } from '../api/jobs'

type Request = Partial<IngestRequest>

export const ingestProgress = shallowRef<Progress>()
export const ingestReport = shallowRef<IngestReport>()
export const ingestFailure = shallowRef<EngineError>()
export const ingestSeconds = ref(0)
export const ingestCancelling = ref(false)
const running = shallowRef<Job<IngestReport>>()
export const ingestRunning = computed(() => running.value !== undefined)
let last: Request = {}

/** Takes files, folders or all of the Claude home in. Files that come while a job runs wait for it. */
export async function ingest(request: Request): Promise<void> {
  if (running.value !== undefined) {
    await running.value.done.catch(() => undefined)
    await ingest(request)
    return
  }
  last = request
  ingestProgress.value = undefined
  ingestReport.value = undefined
  ingestFailure.value = undefined
  ingestCancelling.value = false
  const begin = performance.now()
  const job = startJob('session_ingest', { paths: [], all: false, latest: false, expiring: false, project: null, ...request }, { onProgress: (progress) => (ingestProgress.value = progress) })
  running.value = job
  try {
    ingestReport.value = await job.done
  } catch (failure) {
    ingestFailure.value = toEngineError(failure)
  } finally {
    ingestSeconds.value = (performance.now() - begin) / 1000
    running.value = undefined
  }
}

export async function cancelIngest(): Promise<void> {
  ingestCancelling.value = true
  await running.value?.cancel()
}

/** The same again, after a failure. */
export function ingestAgain(): Promise<void> {
  return ingest(last)
}

export function closeIngest(): void {
  ingestReport.value = undefined
  ingestFailure.value = undefined
}
