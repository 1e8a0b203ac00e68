//! Two letters for each project, for the narrow sidebar; different ones where there is a way.

/** Letters of each name, in order; a name whose letters are taken gets others of its own letters. */
export function initials(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const letters = candidates(name).find((pair) => !taken.has(pair)) ?? candidates(name)[0] ?? '?'
    taken.add(letters)
    return letters
  })
}

function candidates(name: string): string[] {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '')
  const first = words[0] ?? name
  const start = first.charAt(0).toUpperCase()
  const rest = [...words.slice(1).map((word) => word.charAt(0)), ...first.slice(1), ...words.slice(1).join('').slice(1)]
  const pairs = rest.map((letter) => start + letter.toUpperCase())
  return pairs.length === 0 ? [start] : [...new Set(pairs)]
}
