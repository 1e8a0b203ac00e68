//! Finding words in a session: its messages are read by windows in order, and only the places are kept.

import { computed, onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { call } from '../api/call'
import { LONGEST } from './useMessages'

const WINDOW = 200
const MOST_HITS = 5000

export interface Find {
  text: Ref<string>
  /** Indexes of messages that hold the text, one for each time. */
  hits: ShallowRef<number[]>
  /** Position in `hits`, from 0; -1 while there is none. */
  current: Ref<number>
  searching: Ref<boolean>
  /** Share of the session that was read. */
  share: Ref<number>
  index: Ref<number | undefined>
  step: (by: number) => void
}

export function useFind(session: () => string | undefined): Find {
  const text = ref('')
  const hits = shallowRef<number[]>([])
  const current = ref(-1)
  const searching = ref(false)
  const share = ref(0)
  let turn = 0
  let wait: ReturnType<typeof setTimeout> | undefined

  async function search(): Promise<void> {
    const mine = ++turn
    hits.value = []
    current.value = -1
    share.value = 0
    const wanted = text.value.trim().toLowerCase()
    const of = session()
    searching.value = wanted !== '' && of !== undefined
    if (wanted === '' || of === undefined) return
    let offset = 0
    try {
      for (;;) {
        const page = await call('message_list', { session: of, offset, limit: WINDOW, longest: LONGEST })
        if (mine !== turn) return
        const found = page.messages.flatMap((message) => Array.from({ length: timesIn(message.text.toLowerCase(), wanted) }, () => message.index))
        if (found.length > 0) {
          hits.value = [...hits.value, ...found].slice(0, MOST_HITS)
          if (current.value === -1) current.value = 0
        }
        offset += page.messages.length
        share.value = page.total === 0 ? 1 : offset / page.total
        if (page.messages.length === 0 || offset >= page.total || hits.value.length >= MOST_HITS) break
      }
    } finally {
      if (mine === turn) searching.value = false
    }
  }

  watch([text, session], () => {
    clearTimeout(wait)
    wait = setTimeout(() => void search().catch(() => undefined), 150)
  })
  onScopeDispose(() => {
    turn += 1
    clearTimeout(wait)
  })

  function step(by: number): void {
    if (hits.value.length > 0) current.value = (current.value + by + hits.value.length) % hits.value.length
  }
  return { text, hits, current, searching, share, index: computed(() => hits.value[current.value]), step }
}

export function timesIn(text: string, wanted: string): number {
  let times = 0
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) times += 1
  return times
}
