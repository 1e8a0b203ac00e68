//! A selection on the screen, as a stretch of a message's text.
//!
//! Each rendered text block says which message it is of and where it begins in that message's text (`data-message`,
//! `data-base`); runs within say where they stand in the block's source (`data-s`, `data-lines`).

/** A stretch of a message's text; positions are UTF-16 units of the text. */
export interface SourceRange {
  /** The message's uuid, which is not always unique, and its index, which is. */
  message: string
  index: number
  start: number
  end: number
}

/** The stretch that a selection covers; of its first message, when it reaches over several. */
export function sourceRange(range: Range): SourceRange | undefined {
  const blocks = blocksIn(range)
  const first = blocks[0]
  const message = first?.dataset['message']
  if (first === undefined || message === undefined) return undefined
  const last = blocks.filter((block) => block.dataset['index'] === first.dataset['index']).at(-1) ?? first
  const start = edge(range.startContainer, range.startOffset, first, 'start')
  const end = edge(range.endContainer, range.endOffset, last, 'end')
  return start === undefined || end === undefined || end <= start ? undefined : { message, index: Number(first.dataset['index']), start, end }
}

function blocksIn(range: Range): HTMLElement[] {
  const common = range.commonAncestorContainer
  const root = common instanceof HTMLElement ? common : common.parentElement
  // Passages of sub-agents cannot be kept: their texts are no messages of the session.
  if (root?.closest('.agent-run') != null) return []
  const inside = root?.closest<HTMLElement>('[data-message]')
  if (inside != null) return [inside]
  return [...(root?.querySelectorAll<HTMLElement>('[data-message]') ?? [])].filter((block) => range.intersectsNode(block) && block.closest('.agent-run') === null)
}

/** Where an edge of the selection stands in the message's text. */
function edge(node: Node, offset: number, block: HTMLElement, side: 'start' | 'end'): number | undefined {
  const base = Number(block.dataset['base'])
  const point = document.createRange()
  point.setStart(node, offset)
  const runs = [...block.querySelectorAll<HTMLElement>('[data-s], [data-lines]')]
  const holder = runs.find((run) => run.contains(node) && run !== node) ?? (node instanceof HTMLElement && runs.includes(node) ? node : undefined)
  if (holder !== undefined) return base + within(holder, node, offset, side)
  if (side === 'start') {
    const next = runs.find((run) => point.comparePoint(run, 0) >= 0)
    return next === undefined ? undefined : base + runStart(next)
  }
  const before = runs.filter((run) => point.comparePoint(run, 0) < 0).at(-1)
  return before === undefined ? undefined : base + runEnd(before)
}

function lineStartsOf(run: HTMLElement): number[] {
  return (run.dataset['lines'] ?? '').split(',').map(Number)
}

function runStart(run: HTMLElement): number {
  return run.dataset['s'] === undefined ? (lineStartsOf(run)[0] ?? 0) : Number(run.dataset['s'])
}

function runEnd(run: HTMLElement): number {
  if (run.dataset['s'] !== undefined) return Number(run.dataset['s']) + (run.dataset['n'] === undefined ? run.textContent.length : Number(run.dataset['n']))
  return (lineStartsOf(run).at(-1) ?? 0) + (run.textContent.split('\n').at(-1)?.length ?? 0)
}

/** The place of a point within a run, by the words before it. */
function within(run: HTMLElement, node: Node, offset: number, side: 'start' | 'end'): number {
  const before = document.createRange()
  before.setStart(run, 0)
  before.setEnd(node, offset)
  const words = before.toString()
  if (run.dataset['lines'] !== undefined) {
    const lines = words.split('\n')
    return (lineStartsOf(run)[lines.length - 1] ?? 0) + (lines.at(-1)?.length ?? 0)
  }
  // An escape or an entity is one piece: it is chosen whole.
  if (run.dataset['n'] !== undefined) return words === '' || (side === 'start' && words.length < run.textContent.length) ? runStart(run) : runEnd(run)
  return runStart(run) + words.length
}
