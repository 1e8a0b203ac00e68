//! Following Claude Code in a few words, for the foot of the sidebar.

import type { WatchStatus } from '../api/generated/WatchStatus'
import { percent, relative } from './format'

export interface WatchWords {
  /** Green, amber, or none. */
  dot: 'ok' | 'warn' | undefined
  text: string
  /** What hovering says beside it. */
  more: string
  /** Clicking goes on with it. */
  resume: boolean
}

export function watchWords(status: WatchStatus | undefined, archived: string | undefined, now: Date): WatchWords {
  const when = archived === undefined ? undefined : `archived ${relative(archived, now)}`
  const said = (words: string): string => (when === undefined ? words : `${words} · ${when}`)
  const more = [status?.message, status?.hint].filter((words) => words != null).join('. ')
  const trouble = more === '' ? 'ok' : 'warn'
  switch (status?.state) {
    case 'following':
      return { dot: trouble, text: said('Watching'), more: more || `Follows ${(status.folders ?? []).join(', ')}`, resume: false }
    case 'elsewhere':
      return { dot: 'ok', text: said('Watching'), more: 'Another program follows Claude Code for this memory', resume: false }
    case 'catching_up': {
      const { done, total } = status.progress ?? { done: 0, total: 0 }
      return { dot: trouble, text: total > 0 ? `Catching up · ${percent(done / total, 0)}` : said('Watching'), more, resume: false }
    }
    case 'paused':
      return { dot: 'warn', text: said('Paused'), more: 'Nothing new is kept until watching goes on', resume: true }
    case 'failing':
      return { dot: 'warn', text: 'Nothing new is kept', more, resume: false }
    case 'waiting':
      return { dot: undefined, text: 'Nothing kept yet', more: 'Watching begins with the first session that is kept', resume: false }
    case 'off':
    case undefined:
      return { dot: undefined, text: when === undefined ? 'Nothing kept yet' : `A${when.slice(1)}`, more: '', resume: false }
  }
}
