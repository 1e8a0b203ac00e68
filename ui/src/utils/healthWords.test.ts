import { describe, expect, it } from 'vitest'
import type { HealthFinding } from '../api/generated/HealthFinding'
import { canRepair, healthLines } from './healthWords'

const check = (name: string, problems: string[] = [], remedy: string | null = null): HealthFinding => ({ name, ok: problems.length === 0, summary: `all of ${name}`, problems, remedy })

describe('checks of the memory', () => {
  it('that are wrong come first, sound ones of less weight are folded', () => {
    const lines = healthLines([check('database'), check('packs'), check('manifests', ['one differs'], '`recollect doctor --repair` mends it'), check('permissions'), check('index')])
    expect(lines.main.map((line) => line.title)).toEqual(['Manifests differ', 'Archive verified', 'Database sound', 'Search index sound'])
    expect(lines.folded.map((line) => line.title)).toEqual(['Private to you'])
    expect(lines.main.map(canRepair)).toEqual([true, false, false, false])
  })

  it('offer repair for a database that is to be made anew', () => {
    const [line] = healthLines([check('database', ['a page is damaged'], '`recollect rebuild` makes it anew')]).main
    expect(line && canRepair(line)).toBe(true)
  })

  it('that this program does not know are named as they are', () => {
    expect(healthLines([check('backups', ['none'])]).main.map((line) => line.title), 'no check is hidden').toEqual(['Backups wrong'])
  })

  it('are not offered to be repaired when only the user can', () => {
    const [line] = healthLines([check('packs', ['1 archived piece lost'], 'find a copy of the original and ingest it')]).main
    expect(line && canRepair(line)).toBe(false)
  })
})
