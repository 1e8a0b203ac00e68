//! Where the parts of a session's map stand on a strip of a given height.

import type { SessionMap } from '../api/generated/SessionMap'

export interface MapGeometry {
  bars: { top: number; height: number; length: number }[]
  ticks: { top: number; length: number }[]
  compactions: number[]
  frame: { top: number; height: number }
}

const LONGEST_BAR = 12
const LONGEST_TICK = 14

/** Pixels on a strip of `height`; the frame holds the messages `first` to `last`. */
export function mapGeometry(map: SessionMap, height: number, first: number, last: number): MapGeometry {
  const perMessage = map.messages === 0 ? 0 : height / map.messages
  const top = (index: number): number => index * perMessage
  // Few large messages would leave all others invisible: lengths go by the root.
  const most = Math.sqrt(Math.max(1, ...map.buckets.map((bucket) => bucket.tokens / Math.max(1, bucket.messages))))
  const frameTop = Math.max(0, Math.min(height - 8, top(first)))
  return {
    bars: map.buckets
      .filter((bucket) => bucket.tokens > 0)
      .map((bucket) => ({
        top: top(bucket.first),
        height: Math.max(1, Math.min(3, top(bucket.messages) - 1)),
        length: Math.max(2, (Math.sqrt(bucket.tokens / Math.max(1, bucket.messages)) / most) * LONGEST_BAR),
      })),
    ticks: map.keepits.map((keepit) => ({ top: Math.min(height - 2, top(keepit.index)), length: 4 + keepit.weight * (LONGEST_TICK - 4) })),
    compactions: map.compactions.map(top),
    frame: { top: frameTop, height: Math.min(height - frameTop, Math.max(8, top(last + 1) - frameTop)) },
  }
}
