//! Names of compositions: each becomes a folder's name. The engine decides; this says it while one types.

const LONGEST = 100
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i

/** Why a name cannot be one, as a sentence; nothing when it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'A composition needs a name.'
  const wrong = [...name].find((character) => !/[\p{L}\p{N}\p{M}\-_. ]/u.test(character))
  if (wrong === '/' || wrong === '\\') return `“${wrong}” would make it a path: letters, digits, “-”, “_”, “.” and spaces make a name.`
  if (wrong !== undefined) return `“${wrong}” cannot be in a name: letters, digits, “-”, “_”, “.” and spaces can.`
  if (/^[. ]|[. ]$/.test(name)) return 'A name neither begins nor ends with a dot or a space.'
  if (DEVICE.test(name)) return 'Windows keeps this name for a device.'
  if ([...name].length > LONGEST) return `A name has at most ${String(LONGEST)} characters.`
  return undefined
}

/** A name made of a title: `Fix token refresh race` → `fix-token-refresh-race`. */
export function nameFrom(title: string): string {
  const words = title.normalize('NFC').toLowerCase().split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '')
  let name = ''
  for (const word of words) {
    const longer = name === '' ? word : `${name}-${word}`
    if ([...longer].length > 40) break
    name = longer
  }
  if (name === '') return words[0] === undefined ? 'context' : [...words[0]].slice(0, 40).join('')
  return DEVICE.test(name) ? `${name}-context` : name
}

/** The name itself when it is free, else with the first free number behind it: `name-2`. Letter case makes no other name. */
export function freeName(name: string, taken: readonly string[]): string {
  const used = new Set(taken.map((each) => each.toLowerCase()))
  if (!used.has(name.toLowerCase())) return name
  const stem = name.replace(/-\d+$/, '')
  for (let number = 2; ; number++) {
    const next = `${stem}-${String(number)}`
    if (!used.has(next.toLowerCase())) return next
  }
}
