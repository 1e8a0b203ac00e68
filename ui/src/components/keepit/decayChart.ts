//! The geometry of the decay chart: threshold against distance, one weight as a line, the crossing.

import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { DecayCell } from '../../api/generated/DecayCell'
import type { DecayRow } from '../../api/generated/DecayRow'
import { spread } from './decayWords'

export const CHART = { width: 344, height: 168, left: 32, right: 16, top: 8, bottom: 38 } as const
/** More discs than this would touch. */
const MOST_DISCS = 10

export interface Placed {
  x: number
  y: number
  cell: DecayCell
}

export interface DecayGeometry {
  /** Horizontal lines with their labels. */
  grid: { y: number; label: string }[]
  thresholdPath: string
  thresholdArea: string
  /** The weight's line while the passage is kept, and beyond. */
  keptPath: string
  lostPath: string
  discs: Placed[]
  /** Where the passage is first lost; none when it never is. */
  lost: { x: number; distance: number; labelAnchor: 'start' | 'end' } | undefined
  weightY: number
  base: number
  /** A free place for the threshold's label. */
  thresholdLabel: { x: number; y: number; anchor: 'start' | 'end' }
  weightLabel: { x: number; y: number; anchor: 'start' | 'end' }
}

export function decayGeometry(row: DecayRow, weight: number): DecayGeometry | undefined {
  const first = row.cells[0]
  const last = row.cells.at(-1)
  if (first === undefined || last === undefined) return undefined
  const low = Math.min(weight, first.threshold)
  const high = Math.max(1, weight, last.threshold)
  const floor = Math.max(0, Math.floor((low - 0.05) * 5) / 5)
  const x = scaleLinear([first.distance, Math.max(last.distance, first.distance + 1)], [CHART.left, CHART.width - CHART.right])
  const base = CHART.height - CHART.bottom
  const y = scaleLinear([Math.min(floor, 0.8), high], [base, CHART.top])
  const discs = spread(row.cells, MOST_DISCS).map((cell) => ({ x: x(cell.distance), y: y(weight), cell }))
  const threshold = line<DecayCell>((cell) => x(cell.distance), (cell) => y(cell.threshold))
  const below = area<DecayCell>().x((cell) => x(cell.distance)).y0(base).y1((cell) => y(cell.threshold))
  const level = (from: number, to: number): string => (to > from ? (line()([[from, y(weight)], [to, y(weight)]]) ?? '') : '')
  const turn = crossing(row, weight)
  const turnX = turn === undefined ? x(last.distance) : x(turn)
  const lost = row.lost_from ?? undefined
  const lostX = lost === undefined ? 0 : x(lost)
  const above = weight >= (first.threshold + last.threshold) / 2
  return {
    grid: y.ticks(3).map((tick) => ({ y: y(tick), label: tick.toFixed(1) })),
    thresholdPath: threshold(row.cells) ?? '',
    thresholdArea: below(row.cells) ?? '',
    keptPath: level(x(first.distance), turnX),
    lostPath: level(turnX, x(last.distance)),
    discs,
    lost: lost === undefined ? undefined : { x: lostX, distance: lost, labelAnchor: lostX > CHART.width / 2 ? 'end' : 'start' },
    weightY: y(weight),
    base,
    thresholdLabel: above
      ? { x: CHART.left + 118, y: Math.min(base - 6, y(first.threshold) - 4), anchor: 'start' }
      : { x: CHART.width - CHART.right, y: y(last.threshold) - 8 < CHART.top + 8 ? y(last.threshold) + 20 : y(last.threshold) - 8, anchor: 'end' },
    weightLabel: { x: CHART.left, y: y(weight) - 12 < CHART.top + 6 ? y(weight) + 20 : y(weight) - 12, anchor: 'start' },
  }
}

/** Where the threshold rises over the weight, between two distances; none when it does not. */
export function crossing(row: DecayRow, weight: number): number | undefined {
  const lost = row.lost_from ?? undefined
  if (lost === undefined) return undefined
  const index = row.cells.findIndex((cell) => cell.distance === lost)
  const after = row.cells[index]
  const before = row.cells[index - 1]
  if (after === undefined) return undefined
  if (before === undefined) return after.distance
  const share = after.threshold === before.threshold ? 0 : (weight - before.threshold) / (after.threshold - before.threshold)
  return before.distance + Math.min(1, Math.max(0, share)) * (after.distance - before.distance)
}
