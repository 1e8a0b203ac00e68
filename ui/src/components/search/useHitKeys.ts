//! The hit that the keys are at, in a list that changes under them.

import { computed, ref, watch, type ComputedRef } from 'vue'
import type { SearchHit } from '../../api/generated/SearchHit'

export interface HitKeys {
  /** Position of the chosen hit; -1 while there is none. */
  at: ComputedRef<number>
  chosen: ComputedRef<SearchHit | undefined>
  move: (by: number) => void
  choose: (hit: SearchHit) => void
  /** Handles a key of the field; tells whether it was one. */
  pressed: (event: KeyboardEvent) => boolean
}

/** `whenAnswered` holds Enter back until the hits are those of what was typed: a fast typist means the next answer. */
export function useHitKeys(hits: () => readonly SearchHit[], open: (hit: SearchHit, other: boolean) => void, whenAnswered: (work: () => void) => void): HitKeys {
  const at = ref(0)
  const position = computed(() => (hits().length === 0 ? -1 : Math.min(at.value, hits().length - 1)))
  const chosen = computed(() => hits()[position.value])
  // Another answer begins at its best.
  watch(hits, () => (at.value = 0))

  function move(by: number): void {
    if (hits().length > 0) at.value = (position.value + by + hits().length) % hits().length
  }
  function pressed(event: KeyboardEvent): boolean {
    if (event.isComposing) return false
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }
    const step = steps[event.key]
    if (step !== undefined) {
      if (Math.abs(step) === 1) move(step)
      else at.value = Math.max(0, Math.min(hits().length - 1, position.value + step))
    } else if (event.key === 'Enter') {
      const other = event.metaKey || event.ctrlKey
      whenAnswered(() => {
        if (chosen.value !== undefined) open(chosen.value, other)
      })
    } else return false
    event.preventDefault()
    return true
  }
  function choose(hit: SearchHit): void {
    at.value = Math.max(0, hits().indexOf(hit))
  }
  return { at: position, chosen, move, choose, pressed }
}
