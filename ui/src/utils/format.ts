//! Figures and times in words. Figures have separators and units; times are relative, with the absolute on hover.

const LOCALE = 'en-GB'
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `100,234`. */
export function count(value: number): string {
  return whole.format(value)
}

/** `1 session`, `2,677 messages`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** `840`, `1.2k`, `100k`, `1.4M`: for narrow columns, where the unit is known. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value))
  if (value < 9950) return `${(value / 1000).toFixed(1).replace(/\.0$/, '')}k`
  if (value < 999_500) return `${String(Math.round(value / 1000))}k`
  if (value < 9_950_000) return `${(value / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
  return `${String(Math.round(value / 1_000_000))}M`
}

/** `0 B`, `13.2 MB`, `3.78 GB`; decimal units, three figures. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = value
  let unit = 0
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2
  return `${size.toFixed(digits).replace(/\.0+$/, '')} ${units[unit] ?? ''}`
}

/** `58.3 %`. */
export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`
}

/** `0.75`. */
export function weight(value: number): string {
  return value.toFixed(2)
}

const WEIGHT_NAMES: readonly (readonly [number, string])[] = [
  [1, 'Pinned'],
  [0.9, 'Critical'],
  [0.75, 'Important'],
  [0.5, 'Notable'],
  [0.25, 'Minor'],
  [0.1, 'Hint'],
]

/** The presets of the keepit editor, greatest first. */
export const weightPresets: readonly { weight: number; name: string }[] = WEIGHT_NAMES.map(([value, name]) => ({ weight: value, name }))

/** The name of a preset weight; nothing for others. */
export function weightName(value: number): string | undefined {
  return WEIGHT_NAMES.find(([preset]) => Math.abs(preset - value) < 0.005)?.[1]
}

const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const dayMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const dayMonthYear = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'long' })
const monthYear = new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric' })
const monthAlone = new Intl.DateTimeFormat(LOCALE, { month: 'long' })
const full = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'full', timeStyle: 'medium' })

/** `14:02`. */
export function timeOfDay(iso: string): string {
  return clock.format(new Date(iso))
}

/** `Tuesday, 20 January 2026 at 14:02:11`: for hovering. */
export function absolute(iso: string): string {
  return full.format(new Date(iso))
}

/** `January 2026`. */
export function month(iso: string): string {
  return monthYear.format(new Date(iso))
}

/** `Jan`, `Sep`; with the year `Jan ’26`. */
export function monthShort(iso: string, withYear: boolean): string {
  const at = new Date(iso)
  const name = monthAlone.format(at).slice(0, 3)
  return withYear ? `${name} ’${String(at.getFullYear()).slice(-2)}` : name
}

/** `2 min ago`, `3 h ago`, `yesterday`, `Sunday`, `15 Jan`, `4 Dec 2025`. */
export function relative(iso: string, now: Date = new Date()): string {
  const then = new Date(iso)
  const seconds = (now.getTime() - then.getTime()) / 1000
  if (seconds < 0) return date(iso, now)
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${String(Math.floor(seconds / 60))} min ago`
  const days = daysBetween(then, now)
  if (days === 0) return `${String(Math.floor(seconds / 3600))} h ago`
  if (days === 1) return 'yesterday'
  if (days < 7) return weekday.format(then)
  return date(iso, now)
}

/** `20 Jan` in this year, `4 Dec 2025` in others. */
export function date(iso: string, now: Date = new Date()): string {
  const then = new Date(iso)
  return (then.getFullYear() === now.getFullYear() ? dayMonth : dayMonthYear).format(then)
}

/** `20 Jan, 11:36 – 14:22`, or both dates when they differ. */
export function span(first: string, last: string, now: Date = new Date()): string {
  if (daysBetween(new Date(first), new Date(last)) === 0) {
    const start = timeOfDay(first)
    const end = timeOfDay(last)
    return start === end ? `${date(first, now)}, ${start}` : `${date(first, now)}, ${start} – ${end}`
  }
  return `${date(first, now)} – ${date(last, now)}`
}

function daysBetween(from: Date, to: Date): number {
  const start = new Date(from.getFullYear(), from.getMonth(), from.getDate())
  const end = new Date(to.getFullYear(), to.getMonth(), to.getDate())
  return Math.round((end.getTime() - start.getTime()) / 86_400_000)
}

/** `7c41e0b2`, with the ending of a second content under one id: `7c41e0b2~2`. */
export function shortId(id: string): string {
  const [head = '', tail] = id.split('~')
  return tail === undefined ? head.slice(0, 8) : `${head.slice(0, 8)}~${tail}`
}

/** The last part of a path, of either kind of separator. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path
}

/** A path with the user's home as `~`, when it is one. */
export function homePath(path: string): string {
  return path.replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~')
}
