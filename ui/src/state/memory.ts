//! What the frame shows: the memory's figures and its projects, read again when sessions change.

import { ref, shallowRef } from 'vue'
import { call } from '../api/call'
import { toEngineError, type EngineError } from '../api/errors'
import { onEvent } from '../api/events'
import type { Overview } from '../api/generated/Overview'
import type { Project } from '../api/generated/Project'

export const overview = shallowRef<Overview>()
export const projects = shallowRef<Project[]>([])
/** Why the memory cannot be read, when it cannot. */
export const memoryFailure = shallowRef<EngineError>()
/** Counts up whenever lists of sessions should be read again. */
export const sessionsRevision = ref(0)
/** Counts up whenever compositions were made or removed. */
export const compositionsRevision = ref(0)

let turn = 0

/** A session that is written to line by line is read again so often at most: the first time at once. */
const SETTLE_MS = 300
let settling: ReturnType<typeof setTimeout> | undefined
let changedMeanwhile = false

function sessionsChanged(): void {
  if (settling !== undefined) {
    changedMeanwhile = true
    return
  }
  sessionsRevision.value += 1
  void refreshMemory()
  settling = setTimeout(() => {
    settling = undefined
    if (changedMeanwhile) sessionsChanged()
  }, SETTLE_MS)
  changedMeanwhile = false
}

/** Reads the figures and the projects; only the latest reading is kept. */
export async function refreshMemory(): Promise<void> {
  const mine = ++turn
  try {
    const [nextOverview, nextProjects] = await Promise.all([call('memory_overview', {}), call('project_list', {})])
    if (mine !== turn) return
    overview.value = nextOverview
    projects.value = nextProjects
    memoryFailure.value = undefined
  } catch (failure) {
    if (mine === turn) memoryFailure.value = toEngineError(failure)
  }
}

/** Reads once, then follows the engine's events for the life of the window. */
export async function followMemory(): Promise<void> {
  await Promise.all([
    onEvent('sessions_changed', sessionsChanged),
    onEvent('compositions_changed', () => {
      compositionsRevision.value += 1
      void refreshMemory()
    }),
    refreshMemory(),
  ])
}
