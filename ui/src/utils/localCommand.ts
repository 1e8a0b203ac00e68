//! What the client wrote around commands that the user ran in it: shown as a command and its output, not as something said.

export type LocalCommand = { kind: 'command'; text: string } | { kind: 'output'; text: string }

const TAG = /<(command-name|command-args|local-command-stdout|local-command-stderr|bash-input|bash-stdout|bash-stderr)>([\s\S]*?)<\/\1>/g
const WHOLE = /^\s*(?:<(command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr)>[\s\S]*?<\/\1>\s*)+$/

/** The command or the output that a text is made of, wholly; nothing for a text that says more. */
export function localCommand(text: string): LocalCommand | undefined {
  if (!WHOLE.test(text)) return undefined
  const parts = new Map<string, string>()
  for (const [, tag = '', words = ''] of text.matchAll(TAG)) parts.set(tag, words.trim())
  const bash = parts.get('bash-input')
  if (bash !== undefined) return { kind: 'command', text: `! ${bash}` }
  const name = parts.get('command-name')
  if (name !== undefined) return { kind: 'command', text: `${name.startsWith('/') ? '' : '/'}${name} ${parts.get('command-args') ?? ''}`.trim() }
  const output = ['local-command-stdout', 'local-command-stderr', 'bash-stdout', 'bash-stderr'].map((tag) => parts.get(tag) ?? '').filter((words) => words !== '')
  return { kind: 'output', text: withoutColours(output.join('\n')) }
}

/** What the client puts into the user's turns by itself, and how it is headed. */
const PUT_IN: Record<string, string> = {
  'session-start-hook': 'From a hook',
  'user-prompt-submit-hook': 'From a hook',
  'ide_opened_file': 'From the editor',
  'ide_selection': 'From the editor',
  'ide_diagnostics': 'From the editor',
  'system-reminder': 'Put in by the client',
  'task-notification': 'Put in by the client',
}
const PUT_IN_TAG = new RegExp(`<(${Object.keys(PUT_IN).join('|')})>([\\s\\S]*?)</\\1>`, 'g')

export interface PutIn {
  label: string
  text: string
}

/** What the client put in, when a text is nothing else. */
export function putIn(text: string): PutIn | undefined {
  const parts = [...text.matchAll(PUT_IN_TAG)]
  const [first] = parts
  if (first === undefined || text.replace(PUT_IN_TAG, '').trim() !== '') return undefined
  return { label: PUT_IN[first[1] ?? ''] ?? '', text: parts.map(([, , words = '']) => words.trim()).join('\n\n') }
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g')

/** Colours of terminals are control codes; in a page they are only noise. */
export function withoutColours(text: string): string {
  return text.replace(COLOUR, '')
}
