import { describe, expect, it } from 'vitest'
import { placed, towards } from './layout'
import { aComponent, aComposition, aSession } from '../../testing/builders'
import { aVersion } from '../../testing/versions'
import { compositionNode, kinOf, lineageOf, sessionNode, versionNode, type LineageInput } from '../../utils/lineage'

const session = aSession()
const own = sessionNode(session.session_id)
const of = (given: Partial<LineageInput>) => lineageOf({ session, versions: [], compositions: [], sessions: new Map(), ...given })
const links = (lineage: ReturnType<typeof of>): string[] => lineage.edges.map((edge) => `${edge.from} ${edge.link} ${edge.to}`)

describe('the lineage of a session', () => {
  it('is the session alone when nothing was made of it', () => {
    const lineage = of({ compositions: [aComposition({ components: [aComponent({ session_id: 'another' })] })] })
    expect(lineage.nodes.map((node) => node.id), 'compositions of other sessions are no kin').toEqual([own])
    expect(lineage.columns).toEqual(['This session'])
  })

  it('runs from the original over versions and compositions to the sessions that were started', () => {
    const lineage = of({
      versions: [aVersion(), aVersion({ version_id: 'v002', source_version: 'v001' })],
      compositions: [aComposition({ composition_id: 'c1', name: 'ctx', components: [aComponent({ version_id: 'v002' }), aComponent({ session_id: 'another' })], used_in_sessions: ['started-1'] })],
      sessions: new Map([['started-1', { title: 'Go on', tokens: 12 }]]),
    })
    expect(links(lineage)).toEqual([
      `${own} from ${versionNode('v001')}`,
      `${versionNode('v001')} from ${versionNode('v002')}`,
      `${versionNode('v002')} composed ${compositionNode('c1')}`,
      `${compositionNode('c1')} started ${sessionNode('started-1')}`,
    ])
    expect(lineage.columns).toEqual(['This session', 'Versions', '', 'Compositions', 'Sessions started'])
    expect(lineage.nodes.find((node) => node.id === sessionNode('started-1'))?.title).toBe('Go on')
  })

  it('tells a version that was extended, or had a part made anew, from one that was compressed again', () => {
    const part = { first: 0, last: 9, original_tokens: 1, output_tokens: 1, output_messages: 1, settings: null }
    const lineage = of({
      versions: [
        aVersion(),
        aVersion({ version_id: 'v002', lineage: 'extended', source_version: 'v001', parts: [{ ...part, made_in: 'v001' }, { ...part, made_in: 'v002' }] }),
        aVersion({ version_id: 'v003', lineage: 'part', source_version: 'v002', parts: [{ ...part, made_in: 'v001' }, { ...part, made_in: 'v003' }] }),
      ],
    })
    expect(links(lineage).slice(1)).toEqual([`${versionNode('v001')} extended ${versionNode('v002')}`, `${versionNode('v002')} part ${versionNode('v003')}`, `${versionNode('v001')} part ${versionNode('v003')}`])
  })

  it('shows what the session itself was started from, on its left', () => {
    const lineage = of({ compositions: [aComposition({ composition_id: 'c1', components: [aComponent({ session_id: 'older', title: 'Older' })], used_in_sessions: [session.session_id] })] })
    expect(lineage.columns).toEqual(['Made of', 'Compositions', 'This session'])
    expect(links(lineage)).toEqual([`${sessionNode('older')} composed ${compositionNode('c1')}`, `${compositionNode('c1')} started ${own}`])
  })

  it('keeps a place for versions that were deleted and sessions that are not in memory', () => {
    const lineage = of({ compositions: [aComposition({ composition_id: 'c1', components: [aComponent({ version_id: 'v009' })], used_in_sessions: ['7c41e0b2-1111'] })] })
    expect(lineage.nodes.filter((node) => node.gone).map((node) => node.title)).toEqual(['v009', '7c41e0b2'])
  })

  it('names as kin what a version came from and led to, not its siblings', () => {
    const lineage = of({ versions: [aVersion(), aVersion({ version_id: 'v002' }), aVersion({ version_id: 'v003', source_version: 'v001' })] })
    expect(kinOf(lineage, versionNode('v001'))).toEqual(new Set([versionNode('v001'), versionNode('v003'), own]))
  })
})

describe('the drawing of a lineage', () => {
  const lineage = of({
    versions: [aVersion(), aVersion({ version_id: 'v002' }), aVersion({ version_id: 'v003', source_version: 'v001' })],
    compositions: [aComposition({ composition_id: 'c1', components: [aComponent({ version_id: 'original' })] }), aComposition({ composition_id: 'c2', components: [aComponent({ version_id: 'v003' })] })],
  })
  const drawing = placed(lineage, 900)

  it('lets no two nodes overlap, and every edge run to the right', () => {
    for (const a of drawing.nodes) for (const b of drawing.nodes) {
      if (a.id < b.id) expect(a.x !== b.x || Math.abs(a.y - b.y) >= 44, `${a.id} and ${b.id} overlap`).toBe(true)
    }
    const at = new Map(drawing.nodes.map((node) => [node.id, node]))
    for (const edge of drawing.edges) expect(at.get(edge.from)?.x ?? 0, edge.key).toBeLessThan(at.get(edge.to)?.x ?? 0)
    expect(Math.min(...drawing.nodes.map((node) => node.y))).toBe(0)
  })

  it('is walked by the arrow keys: right and left along the edges, up and down within a column', () => {
    expect(towards(drawing, versionNode('v001'), 'ArrowRight')?.id).toBe(versionNode('v003'))
    expect(towards(drawing, versionNode('v001'), 'ArrowLeft')?.id).toBe(own)
    const beside = ['ArrowUp', 'ArrowDown'].map((key) => towards(drawing, versionNode('v001'), key)?.id)
    expect(beside).toContain(versionNode('v002'))
    expect(towards(drawing, own, 'ArrowLeft')).toBeUndefined()
  })
})
