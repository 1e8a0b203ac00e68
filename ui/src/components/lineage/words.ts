//! What a node of a lineage is, in words, for those who do not see its lines.

import { counted } from '../../utils/format'
import type { Lineage, LineageNode } from '../../utils/lineage'
import { settingsText } from '../compress/form'

export function nodeWords(node: LineageNode, lineage: Lineage): string {
  const names = new Map(lineage.nodes.map((each) => [each.id, each.title]))
  const ends = (at: 'from' | 'to'): string[] => lineage.edges.filter((edge) => edge[at === 'from' ? 'to' : 'from'] === node.id).map((edge) => names.get(edge[at]) ?? '')
  const before = ends('from')
  const after = ends('to')
  return [
    node.own ? `This session: ${node.title}` : `${KINDS[node.kind]} ${node.title}`,
    ...(node.gone ? [node.kind === 'session' ? 'not in memory' : 'deleted'] : []),
    ...(node.version === undefined ? [] : [settingsText(node.version.settings)]),
    ...(node.tokens === undefined ? [] : [counted(node.tokens, 'token')]),
    ...(before.length > 0 ? [`from ${before.join(', ')}`] : []),
    ...(after.length > 0 ? [`leads to ${after.join(', ')}`] : []),
  ].join(', ')
}

const KINDS: Record<LineageNode['kind'], string> = { session: 'Session', version: 'Version', composition: 'Composition' }
