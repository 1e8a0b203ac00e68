//! The geometry of the chart of months: bars of three parts, stacked.

import { scaleBand, scaleLinear } from 'd3-scale'
import { stack } from 'd3-shape'
import { unitOf, type ChartMonth } from '../../utils/storageFigures'

export const CHART = { height: 220, left: 36, top: 20, bottom: 24 } as const
export const PARTS = ['stored', 'packed', 'repeated'] as const
export type Part = (typeof PARTS)[number]
/** The narrowest bar that can be read and pointed at. */
const NARROWEST = 22
/** Pixels between two parts of a bar. */
const GAP = 1

export interface ChartBar {
  month: ChartMonth
  x: number
  width: number
  /** Where the bar ends at the top. */
  top: number
  parts: { part: Part; y: number; height: number }[]
}

export interface MonthGeometry {
  unit: string
  base: number
  grid: { y: number; label: string }[]
  bars: ChartBar[]
  /** The highest bar, which is called out. */
  highest: { bar: ChartBar; label: string } | undefined
  /** Every so many bars carry a name, so that names do not touch. */
  nameEvery: number
}

/** How many bars fit. */
export function mostBars(width: number): number {
  return Math.max(6, Math.floor((width - CHART.left) / NARROWEST))
}

export function monthGeometry(months: readonly ChartMonth[], width: number): MonthGeometry {
  const base = CHART.height - CHART.bottom
  const most = Math.max(...months.map((month) => month.original), 1)
  const { unit, size } = unitOf(most)
  const y = scaleLinear([0, most / size], [base, CHART.top]).nice(3)
  // A year fills the width as drawn; fewer months stand at the left in bars of the same kind.
  const slots = Math.max(12, months.length)
  const x = scaleBand(Array.from({ length: slots }, (_, at) => String(at)), [CHART.left, width]).paddingInner(0.37).paddingOuter(0.14)
  const layers = stack<unknown, ChartMonth, Part>().keys(PARTS).value((month, part) => month[part])([...months])
  const bars = months.map((month, at): ChartBar => {
    const parts = layers.flatMap((layer) => {
      const [from = 0, to = 0] = layer[at] ?? []
      const height = y(from / size) - y(to / size)
      // The gap is taken from the upper part's foot, and never more than there is.
      const gap = from > 0 && height > 2 * GAP ? GAP : 0
      return height <= 0 ? [] : [{ part: layer.key, y: y(to / size), height: height - gap }]
    })
    return { month, x: x(String(at)) ?? 0, width: x.bandwidth(), top: y(month.original / size), parts }
  })
  const highest = bars.length > 1 ? bars.reduce((best, bar) => (bar.month.original > best.month.original ? bar : best)) : undefined
  return {
    unit,
    base,
    grid: y.ticks(3).map((tick) => ({ y: y(tick), label: String(tick) })),
    bars,
    highest: highest === undefined || highest.month.original === 0 ? undefined : { bar: highest, label: figure(highest.month.original / size) },
    nameEvery: Math.max(1, Math.ceil(34 / x.step())),
  }
}

/** Three figures are enough above a bar. */
function figure(value: number): string {
  return value >= 99.5 ? String(Math.round(value)) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2)
}
