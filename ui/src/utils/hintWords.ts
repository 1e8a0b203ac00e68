//! What the engine advises, in the words of the window: its hints speak to every face, and some of them in words of a terminal.

const WORDINGS: readonly (readonly [RegExp, string])[] = [
  [/^give the folder .*--cwd$|^name the folder .*--cwd DIR$/, 'choose the folder in which Claude Code is to run'],
  [/^rename the folder, or choose another with --cwd$/, 'rename the folder, or choose another'],
  [/^choose another name, or replace it with --replace$/, 'choose another name, or replace the one that has it'],
  [/^compose it again with --replace$/, 'compose it again under the same name'],
  [/^choose another place, or use --force to write over it$/, 'choose another place'],
  [/^(.*stay readable without (?:it|them)); use --force .*$/, '$1; confirm to go on all the same'],
  [/^ingest some first.*$/, 'add some transcripts first'],
  [/^its weight can be set .*leave out --write-transcript$/, 'its weight can be set in memory alone, without writing into the transcript'],
  [/^name files or folders, or (?:set|use) --.*$/, 'choose files or folders'],
  [/^`recollect doctor --repair` mends it$/, 'repair mends it'],
  [/^(?:memory\.db is damaged: )?`recollect rebuild` makes it anew(.*)$/, 'repair, in Storage, makes the database anew$1'],
  [/^(.*), or use --\S+.*$/, '$1'],
]
/** Words that only a terminal knows. */
const TERMINAL = /(?:^|[\s(`])--[a-z]|`recollect |recollect [a-z]+ /

/** A hint for the window; nothing when it only helps in a terminal. */
export function hintWords(hint: string): string | null {
  for (const [pattern, words] of WORDINGS) if (pattern.test(hint)) return asSentence(hint.replace(pattern, words))
  return TERMINAL.test(hint) ? null : asSentence(hint)
}

/** The engine speaks in lower case without a full stop; screens show sentences. */
export function asSentence(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return ''
  const first = trimmed.charAt(0)
  // Names of things (a path, a command, an id in backticks) keep their letters.
  const head = /^[a-z]+\b(?![_./\\-])/.test(trimmed) ? first.toUpperCase() + trimmed.slice(1) : trimmed
  return /[.!?…]$/.test(head) ? head : `${head}.`
}
