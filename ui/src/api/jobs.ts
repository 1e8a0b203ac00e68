//! Long work as a promise: started as a job of the engine, followed by its events.

import { call, type CommandName, type RequestOf, type ResponseOf } from './call'
import { EngineError } from './errors'
import { onAnyEvent } from './events'
import type { Event } from './generated/Event'
import type { Progress } from './generated/Progress'

export interface JobOptions {
  onProgress?: (progress: Progress) => void
}

/** A running job. */
export interface Job<Response> {
  /** Fulfilled with the command's response; rejected with an `EngineError`, of kind `cancelled` when it was stopped. */
  done: Promise<Response>
  /** Asks it to stop; `done` tells when it has. */
  cancel(): Promise<void>
}

/** Starts a command as a job. Events that arrive before its id is known are not lost. */
export function startJob<Name extends CommandName>(command: Name, request: RequestOf<Name>, options: JobOptions = {}): Job<ResponseOf<Name>> {
  const started = new AbortController()
  let jobId: string | undefined
  let cancelWanted = false

  const run = async (): Promise<ResponseOf<Name>> => {
    const early: Event[] = []
    let settle: (event: Event) => void = (event) => early.push(event)
    const unlisten = await onAnyEvent((event) => settle(event))
    try {
      if (cancelWanted) throw new EngineError({ kind: 'cancelled', message: 'cancelled' })
      const id = (await call('job_start', { command, request })).job_id
      return await new Promise<ResponseOf<Name>>((resolve, reject) => {
        settle = (event) => {
          if (!('job_id' in event) || event.job_id !== id) return
          if (event.event === 'job_progress') options.onProgress?.(event.progress)
          else if (event.event === 'job_done') resolve(event.response as ResponseOf<Name>)
          else reject(new EngineError(event.error))
        }
        early.forEach(settle)
        jobId = id
        if (cancelWanted) void call('job_cancel', { job_id: id }).catch(reject)
      })
    } finally {
      unlisten()
      started.abort()
    }
  }

  return {
    done: run(),
    async cancel() {
      cancelWanted = true
      if (jobId !== undefined && !started.signal.aborted) await call('job_cancel', { job_id: jobId })
    },
  }
}
