//! Where versions, compositions and sessions come from, as a graph: sessions joined upstream → this session → its versions → compositions → sessions started from them.

import type { Composition } from '../api/generated/Composition'
import type { SessionSummary } from '../api/generated/SessionSummary'
import type { Version } from '../api/generated/Version'
import { shortId } from './format'

export type LineageKind = 'session' | 'version' | 'composition'
/** How one came from the other. */
export type LineageLink = 'from' | 'extended' | 'part' | 'composed' | 'started'

export interface LineageNode {
  id: string
  kind: LineageKind
  /** The column, from the left; the session itself is in none that is less than what came before it. */
  column: number
  title: string
  /** Its tokens, when known. */
  tokens: number | undefined
  /** The session whose lineage it is. */
  own: boolean
  /** It is no longer there. */
  gone: boolean
  version?: Version
  composition?: Composition
  sessionId?: string
}

export interface LineageEdge {
  from: string
  to: string
  link: LineageLink
}

export interface Lineage {
  nodes: LineageNode[]
  edges: LineageEdge[]
  /** What stands in each column, in words. */
  columns: string[]
}

export interface LineageInput {
  session: SessionSummary
  versions: readonly Version[]
  /** All compositions of the memory; those that have nothing to do with the session are left out. */
  compositions: readonly Composition[]
  /** What is known of other sessions. */
  sessions: ReadonlyMap<string, Pick<SessionSummary, 'title' | 'tokens'>>
}

export const sessionNode = (id: string): string => `session:${id}`
export const versionNode = (id: string): string => `version:${id}`
export const compositionNode = (id: string): string => `composition:${id}`

/** The graph of one session; more than the session itself only when something came of it, or it of something. */
export function lineageOf({ session, versions, compositions, sessions }: LineageInput): Lineage {
  const own = sessionNode(session.session_id)
  const before = compositions.filter((composition) => composition.used_in_sessions.includes(session.session_id))
  const after = compositions.filter((composition) => composition.components.some((component) => component.session_id === session.session_id))
  const first = before.length > 0 ? 2 : 0
  const nodes = new Map<string, LineageNode>()
  const edges = new Map<string, LineageEdge>()
  const node = (id: string, kind: LineageKind, column: number, title: string, more: Partial<LineageNode> = {}): void => {
    if (!nodes.has(id)) nodes.set(id, { id, kind, column, title, tokens: undefined, own: false, gone: false, ...more })
  }
  const edge = (from: string, to: string, link: LineageLink): void => void edges.set(`${from}>${to}`, { from, to, link })

  for (const composition of before) {
    const id = compositionNode(composition.composition_id)
    node(id, 'composition', 1, composition.name, { tokens: composition.total_tokens, composition })
    for (const component of composition.components) {
      if (component.session_id === session.session_id) continue
      node(sessionNode(component.session_id), 'session', 0, component.title, { tokens: component.original_tokens, sessionId: component.session_id })
      edge(sessionNode(component.session_id), id, 'composed')
    }
    edge(id, own, 'started')
  }
  node(own, 'session', first, session.title, { tokens: session.tokens, own: true, sessionId: session.session_id })

  const depths = versionDepths(versions)
  const deepest = Math.max(0, ...depths.values())
  for (const version of versions) node(versionNode(version.version_id), 'version', first + (depths.get(version.version_id) ?? 1), version.version_id, { tokens: version.output_tokens, version })
  for (const version of versions) for (const { from, link } of sourcesOf(version)) {
    if (from === undefined) edge(own, versionNode(version.version_id), link)
    else {
      node(versionNode(from), 'version', first + Math.max(1, (depths.get(version.version_id) ?? 2) - 1), from, { gone: true })
      edge(versionNode(from), versionNode(version.version_id), link)
    }
  }

  const made = first + deepest + 1
  for (const composition of after) {
    const id = compositionNode(composition.composition_id)
    if (nodes.has(id)) continue
    node(id, 'composition', made, composition.name, { tokens: composition.total_tokens, composition })
    for (const component of composition.components.filter((each) => each.session_id === session.session_id)) {
      const taken = component.version_id
      if (taken === 'original') edge(own, id, 'composed')
      else {
        node(versionNode(taken), 'version', Math.max(first + 1, made - 1), taken, { gone: true })
        edge(versionNode(taken), id, 'composed')
      }
    }
    for (const started of composition.used_in_sessions) {
      const known = sessions.get(started)
      node(sessionNode(started), 'session', made + 1, known?.title ?? shortId(started), { tokens: known?.tokens, gone: known === undefined, sessionId: started })
      edge(id, sessionNode(started), 'started')
    }
  }
  return { ...closedUp([...nodes.values()], [...edges.values()]) }
}

/** What a version was made of: nothing names the original. */
function sourcesOf(version: Version): { from: string | undefined; link: LineageLink }[] {
  const link: LineageLink = version.lineage === 'extended' || version.lineage === 'part' ? version.lineage : 'from'
  const source = { from: version.source_version ?? undefined, link }
  // Parts that were made in versions further back are taken from those.
  const further = new Set(version.parts.map((part) => part.made_in).filter((id) => id !== version.version_id && id !== version.source_version))
  return [source, ...[...further].map((from) => ({ from, link: 'part' as const }))]
}

/** How many steps each version is from the original. */
function versionDepths(versions: readonly Version[]): Map<string, number> {
  const known = new Map(versions.map((version) => [version.version_id, version]))
  const depths = new Map<string, number>()
  function depth(id: string, seen: readonly string[]): number {
    const found = depths.get(id)
    if (found !== undefined) return found
    const version = known.get(id)
    // A source that was deleted stands one step from the original.
    const sources = version === undefined || seen.includes(id) ? [] : sourcesOf(version).flatMap(({ from }) => (from === undefined ? [] : [from]))
    const steps = 1 + Math.max(0, ...sources.map((from) => depth(from, [...seen, id])))
    depths.set(id, steps)
    return steps
  }
  for (const version of versions) depth(version.version_id, [])
  return depths
}

const HEADINGS: Record<LineageKind, string> = { session: 'Sessions started', version: 'Versions', composition: 'Compositions' }

/** Columns without gaps, with what stands in each. */
function closedUp(nodes: LineageNode[], edges: LineageEdge[]): Lineage {
  const used = [...new Set(nodes.map((node) => node.column))].sort((a, b) => a - b)
  const place = new Map(used.map((column, index) => [column, index]))
  const own = nodes.find((node) => node.own)?.column ?? 0
  const columns = used.map((column, index) => {
    const here = nodes.filter((node) => node.column === column)
    if (here.some((node) => node.own)) return 'This session'
    const kind = here[0]?.kind ?? 'session'
    if (kind === 'session' && column < own) return 'Made of'
    // Versions made of versions go on in the next column, under one heading.
    return kind === 'version' && nodes.some((node) => node.kind === 'version' && node.column === used[index - 1]) ? '' : HEADINGS[kind]
  })
  return { nodes: nodes.map((node) => ({ ...node, column: place.get(node.column) ?? 0 })), edges, columns }
}

/** Everything that a node came from and that came of it, with itself. */
export function kinOf(lineage: Pick<Lineage, 'edges'>, id: string): Set<string> {
  const kin = new Set([id])
  function follow(at: string, from: 'from' | 'to', to: 'from' | 'to'): void {
    for (const edge of lineage.edges) {
      if (edge[from] !== at || kin.has(edge[to])) continue
      kin.add(edge[to])
      follow(edge[to], from, to)
    }
  }
  follow(id, 'from', 'to')
  follow(id, 'to', 'from')
  return kin
}
