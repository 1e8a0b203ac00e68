//! Where the nodes of a lineage stand and how its edges run: layers from left to right, laid out by dagre.

import { Graph, layout, type Point } from '@dagrejs/dagre'
import { curveBumpX, line } from 'd3-shape'
import type { Lineage, LineageEdge, LineageNode } from '../../utils/lineage'

export const NODE_HEIGHT = 44
const ROW_GAP = 12
const COLUMN_GAP = 28
const WIDEST_GAP = 64
const LEAST_WIDTH = 112
const MOST_WIDTH = 216

export interface PlacedNode extends LineageNode {
  x: number
  y: number
}

export interface PlacedEdge extends LineageEdge {
  key: string
  path: string
}

export interface PlacedLineage {
  nodes: PlacedNode[]
  edges: PlacedEdge[]
  /** Left edge of each column. */
  columns: number[]
  nodeWidth: number
  width: number
  height: number
}

const drawn = line<Point>((point) => point.x, (point) => point.y).curve(curveBumpX)

/** Lays a lineage out in a width; wider than that when there are many columns. */
export function placed(lineage: Lineage, available: number): PlacedLineage {
  const count = Math.max(1, lineage.columns.length)
  const nodeWidth = Math.floor(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, (available - (count - 1) * COLUMN_GAP) / count)))
  const gap = Math.max(COLUMN_GAP, Math.min(WIDEST_GAP, count > 1 ? (available - count * nodeWidth) / (count - 1) : 0))
  const columns = lineage.columns.map((_, column) => Math.round(column * (nodeWidth + gap)))
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: ROW_GAP, edgesep: ROW_GAP, ranksep: gap })
  const byId = new Map(lineage.nodes.map((node) => [node.id, node]))
  for (const node of lineage.nodes) graph.setNode(node.id, { width: nodeWidth, height: NODE_HEIGHT })
  for (const edge of lineage.edges) graph.setEdge(edge.from, edge.to, { minlen: Math.max(1, (byId.get(edge.to)?.column ?? 0) - (byId.get(edge.from)?.column ?? 0)), weight: edge.link === 'composed' ? 1 : 2 })
  layout(graph)

  // Its rows are taken as they are; a column is where its heading says, whatever stands alone in it.
  const nodes = lineage.nodes.map((node) => ({ ...node, x: columns[node.column] ?? 0, y: Math.round((graph.node(node.id).y ?? 0) - NODE_HEIGHT / 2) }))
  const top = Math.min(0, ...nodes.map((node) => node.y))
  const settled = apart(nodes.map((node) => ({ ...node, y: node.y - top })))
  const places = new Map(settled.map((node) => [node.id, node]))
  const edges = lineage.edges.flatMap((edge) => {
    const from = places.get(edge.from)
    const to = places.get(edge.to)
    if (from === undefined || to === undefined) return []
    const between = (graph.edge(edge.from, edge.to).points ?? []).slice(1, -1)
    const bends = to.column - from.column > 1 ? columns.slice(from.column + 1, to.column).flatMap((left, index) => bendsAt(left, nodeWidth, nearest(between, index, to.column - from.column - 1).y - top)) : []
    const points = [{ x: from.x + nodeWidth, y: from.y + NODE_HEIGHT / 2 }, ...bends, { x: to.x, y: to.y + NODE_HEIGHT / 2 }]
    return [{ ...edge, key: `${edge.from}>${edge.to}`, path: drawn(points) ?? '' }]
  })
  return { nodes: settled, edges, columns, nodeWidth, width: (columns.at(-1) ?? 0) + nodeWidth, height: Math.max(NODE_HEIGHT, ...settled.map((node) => node.y + NODE_HEIGHT)) }
}

/** An edge that passes a column runs level through it. */
function bendsAt(left: number, width: number, y: number): Point[] {
  return [{ x: left, y }, { x: left + width, y }]
}

function nearest(points: readonly Point[], index: number, columns: number): Point {
  return points[Math.round(((index + 0.5) / columns) * points.length - 0.5)] ?? points.at(-1) ?? { x: 0, y: 0 }
}

/** No two of a column may touch. */
function apart(nodes: PlacedNode[]): PlacedNode[] {
  const settled = new Map<string, PlacedNode>()
  for (const column of new Set(nodes.map((node) => node.column))) {
    let free = -Infinity
    for (const node of nodes.filter((each) => each.column === column).sort((a, b) => a.y - b.y)) {
      const y = Math.max(node.y, free)
      free = y + NODE_HEIGHT + ROW_GAP
      settled.set(node.id, { ...node, y })
    }
  }
  return nodes.map((node) => settled.get(node.id) ?? node)
}

/** The node that an arrow key leads to from another. */
export function towards(placedLineage: Pick<PlacedLineage, 'nodes' | 'edges'>, id: string, key: string): PlacedNode | undefined {
  const here = placedLineage.nodes.find((node) => node.id === id)
  if (here === undefined) return undefined
  const byDistance = (nodes: PlacedNode[]): PlacedNode | undefined => nodes.sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y) || Math.abs(a.column - here.column) - Math.abs(b.column - here.column))[0]
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const down = key === 'ArrowDown'
    return byDistance(placedLineage.nodes.filter((node) => node.column === here.column && (down ? node.y > here.y : node.y < here.y)))
  }
  if (key !== 'ArrowRight' && key !== 'ArrowLeft') return undefined
  const right = key === 'ArrowRight'
  const linked = new Set(placedLineage.edges.filter((edge) => (right ? edge.from : edge.to) === id).map((edge) => (right ? edge.to : edge.from)))
  return byDistance(placedLineage.nodes.filter((node) => linked.has(node.id)))
}
