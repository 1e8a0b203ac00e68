//! Several rows chosen in a list, as file managers do it: click, Shift for a range, the main modifier for one more.

import { computed, shallowRef, watch, type Ref } from 'vue'

export interface ListSelection<Id> {
  selected: Readonly<Ref<ReadonlySet<Id>>>
  /** The row that the keyboard is on. */
  active: Readonly<Ref<Id | undefined>>
  choose: (id: Id, how?: { range?: boolean; toggle?: boolean }) => void
  /** Moves the keyboard by rows; with `range` the rows between are chosen too. */
  move: (by: number, how?: { range?: boolean }) => Id | undefined
  chooseAll: () => void
  clear: () => void
}

export function useListSelection<Id>(ids: Ref<readonly Id[]>): ListSelection<Id> {
  const selected = shallowRef<ReadonlySet<Id>>(new Set())
  const active = shallowRef<Id>()
  let anchor: Id | undefined

  function between(from: Id, to: Id): Id[] {
    const first = ids.value.indexOf(from)
    const last = ids.value.indexOf(to)
    if (first === -1 || last === -1) return [to]
    return ids.value.slice(Math.min(first, last), Math.max(first, last) + 1)
  }

  function choose(id: Id, how: { range?: boolean; toggle?: boolean } = {}): void {
    if (how.range && anchor !== undefined) {
      selected.value = new Set(between(anchor, id))
    } else if (how.toggle) {
      const next = new Set(selected.value)
      if (!next.delete(id)) next.add(id)
      selected.value = next
      anchor = id
    } else {
      selected.value = new Set([id])
      anchor = id
    }
    active.value = id
  }

  function move(by: number, how: { range?: boolean } = {}): Id | undefined {
    const from = active.value === undefined ? -1 : ids.value.indexOf(active.value)
    const to = from === -1 ? (by > 0 ? 0 : ids.value.length - 1) : Math.max(0, Math.min(ids.value.length - 1, from + by))
    const id = ids.value[to]
    if (id !== undefined) choose(id, how)
    return id
  }

  // What left the list is no longer chosen.
  const known = computed(() => new Set(ids.value))
  watch(known, (still) => {
    const next = [...selected.value].filter((id) => still.has(id))
    if (next.length !== selected.value.size) selected.value = new Set(next)
    if (active.value !== undefined && !still.has(active.value)) active.value = undefined
  })

  return {
    selected,
    active,
    choose,
    move,
    chooseAll: () => (selected.value = new Set(ids.value)),
    clear: () => (selected.value = new Set()),
  }
}
