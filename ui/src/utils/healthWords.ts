//! The checks of the memory in the words of the window.

import type { HealthFinding } from '../api/generated/HealthFinding'

/** How a check is headed when it is sound, and when it is not. */
const NAMES: Record<string, readonly [sound: string, wrong: string]> = {
  packs: ['Archive verified', 'Archive damaged'],
  database: ['Database sound', 'Database damaged'],
  index: ['Search index sound', 'Search index damaged'],
  watermarks: ['Files complete', 'Files incomplete'],
  manifests: ['Manifests current', 'Manifests differ'],
  originals: ['Links to originals right', 'Links to originals wrong'],
  permissions: ['Private to you', 'Others can read it'],
}
/** What is always shown; the rest is folded while it is sound. */
const MAIN = ['packs', 'database', 'index']

export interface HealthLine {
  name: string
  ok: boolean
  title: string
  text: string
  problems: readonly string[]
  remedy: string | undefined
}

export interface HealthLines {
  main: HealthLine[]
  /** Sound checks that need no place of their own. */
  folded: HealthLine[]
}

export function healthLines(checks: readonly HealthFinding[]): HealthLines {
  const lines = checks.map(lineOf)
  const rank = (line: HealthLine): number => (line.ok ? 1 + MAIN.indexOf(line.name) : 0)
  return {
    main: lines.filter((line) => !line.ok || MAIN.includes(line.name)).sort((a, b) => rank(a) - rank(b)),
    folded: lines.filter((line) => line.ok && !MAIN.includes(line.name)),
  }
}

function lineOf(check: HealthFinding): HealthLine {
  const [sound, wrong] = NAMES[check.name] ?? [`${sentence(check.name)} sound`, `${sentence(check.name)} wrong`]
  return { name: check.name, ok: check.ok, title: check.ok ? sound : wrong, text: sentence(check.summary), problems: check.problems.map(sentence), remedy: check.remedy == null ? undefined : check.remedy }
}

/** Whether mending in the window can help, rather than something that only the user can do. */
export function canRepair(line: HealthLine): boolean {
  return !line.ok && /--repair|`recollect rebuild`/.test(line.remedy ?? '')
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
