import { describe, expect, it } from 'vitest'
import { hintWords } from './hintWords'

describe('hints of the engine in the window', () => {
  it.each([
    ['name the folder in which Claude Code is to run: --cwd DIR', 'Choose the folder in which Claude Code is to run.'],
    ['compositions stay readable without it; use --force to remove it all the same', 'Compositions stay readable without it; confirm to go on all the same.'],
    ['choose another name, or replace it with --replace', 'Choose another name, or replace the one that has it.'],
    ['`recollect doctor --repair` mends it', 'Repair mends it.'],
    ['memory.db is damaged: `recollect rebuild` makes it anew from the archive', 'Repair, in Storage, makes the database anew from the archive.'],
    ['free some space, then try again', 'Free some space, then try again.'],
  ])('%s', (hint, words) => {
    expect(hintWords(hint)).toBe(words)
  })

  it.each(['`recollect sessions` lists them; a unique prefix is enough', 'use --tree DIR to restore those', 'see recollect versions SESSION'])('%s helps only in a terminal', (hint) => {
    expect(hintWords(hint)).toBeNull()
  })
})
