//! Continues from a composition in Claude Code: writes the session, opens a terminal; when that cannot be, says how by hand.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { call, shell } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import type { Resumed } from '../api/generated/Resumed'

export type ResumeStage = 'writing' | 'opening' | 'opened' | 'by-hand' | 'failed'

export interface ResumeState {
  /** Nothing while it was not asked for. */
  stage: Ref<ResumeStage | undefined>
  name: Ref<string>
  resumed: ShallowRef<Resumed | undefined>
  /** Why the session was not written, or why no terminal opened. */
  error: ShallowRef<EngineError | undefined>
  /** Starts it for a composition; in the folder of its project if no other is given. */
  start: (name: string, cwd?: string) => Promise<void>
  /** Resumes a session that the client still has, as it is. */
  startOriginal: (title: string, original: Resumed) => Promise<void>
  /** Opens the terminal once more. */
  open: () => Promise<void>
  /** Lets the user choose the folder, and writes the session there. */
  chooseFolder: () => Promise<void>
  close: () => void
}

export function useResume(): ResumeState {
  const stage = ref<ResumeStage>()
  const name = ref('')
  const resumed = shallowRef<Resumed>()
  const error = shallowRef<EngineError>()

  async function start(composition: string, cwd?: string): Promise<void> {
    name.value = composition
    resumed.value = undefined
    error.value = undefined
    stage.value = 'writing'
    try {
      resumed.value = await call('resume_create', { name: composition, cwd: cwd ?? null })
    } catch (failure) {
      error.value = toEngineError(failure)
      stage.value = 'failed'
      return
    }
    await open()
  }

  async function startOriginal(title: string, original: Resumed): Promise<void> {
    name.value = title
    resumed.value = original
    await open()
  }

  async function open(): Promise<void> {
    const written = resumed.value
    if (written === undefined) return
    stage.value = 'opening'
    error.value = undefined
    try {
      await shell({ action: 'continue_in_terminal', session_id: written.session_id, cwd: written.cwd })
      stage.value = 'opened'
    } catch (failure) {
      error.value = toEngineError(failure)
      stage.value = 'by-hand'
    }
  }

  async function chooseFolder(): Promise<void> {
    try {
      const folder = (await shell({ action: 'pick_paths', folder: true })).paths[0]
      if (folder !== undefined) await start(name.value, folder)
    } catch (failure) {
      error.value = toEngineError(failure)
    }
  }

  return { stage, name, resumed, error, start, startOriginal, open, chooseFolder, close: () => (stage.value = undefined) }
}
