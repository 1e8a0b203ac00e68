//! What dragged files are, by their names: what will happen to them is said before they are dropped.

export interface DropKind {
  count: number
  what: string
  ending: string
  outcome: string
  taken: boolean
}

/** Kinds of the paths, transcripts first. */
export function dropKinds(paths: readonly string[]): DropKind[] {
  const transcripts = paths.filter((path) => /\.jsonl$/i.test(path))
  const folders = paths.filter((path) => !/\.[^\\/.]+$/.test(path))
  const texts = paths.filter((path) => /\.(txt|md|markdown|json)$/i.test(path))
  const others = paths.filter((path) => !transcripts.includes(path) && !folders.includes(path) && !texts.includes(path))
  const endingsOf = (of: readonly string[]): string => [...new Set(of.map((path) => /\.[^.\\/]+$/.exec(path)?.[0].toLowerCase() ?? ''))].slice(0, 3).join(' ')
  const kinds: DropKind[] = [
    { count: transcripts.length, what: transcripts.length === 1 ? 'transcript' : 'transcripts', ending: '.jsonl', outcome: 'one session each', taken: true },
    { count: folders.length, what: folders.length === 1 ? 'folder' : 'folders', ending: '', outcome: 'every conversation in it', taken: true },
    { count: texts.length, what: texts.length === 1 ? 'text' : 'texts', ending: endingsOf(texts), outcome: 'exports and conversations are taken', taken: true },
    { count: others.length, what: others.length === 1 ? 'other file' : 'other files', ending: endingsOf(others), outcome: 'looked at, left out if it is no conversation', taken: false },
  ]
  return kinds.filter((kind) => kind.count > 0)
}
