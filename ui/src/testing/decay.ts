//! Rows of the decay table for tests, by the formula of the engine (4.1).

import type { Aggressiveness } from '../api/generated/Aggressiveness'
import type { DecayRow } from '../api/generated/DecayRow'
import type { DecayTable } from '../api/generated/DecayTable'
import type { KeepitMarker } from '../api/generated/KeepitMarker'

const BASES: Record<Aggressiveness, number> = { light: 10, moderate: 30, aggressive: 50 }

/** One row; counted in thousandths, so that no rounding decides. */
export function aDecayRow(ratio: number, weight: number): DecayRow {
  const aggressiveness = ratio < 6 ? 'light' : ratio < 16 ? 'moderate' : 'aggressive'
  const cells = Array.from({ length: 10 }, (_, index) => {
    const distance = index + 1
    const threshold = BASES[aggressiveness] * 10 + ratio * distance
    const margin = Math.round(weight * 1000) - threshold
    const fate = margin < 0 && weight < 1 ? ('SUMMARIZED' as const) : margin < 50 && weight < 1 ? ('BARELY_SURVIVES' as const) : ('SURVIVES' as const)
    return { distance, threshold: threshold / 1000, margin: margin / 1000, fate }
  })
  return { ratio, aggressiveness, cells, lost_from: cells.find((cell) => cell.fate === 'SUMMARIZED')?.distance ?? null }
}

export function aDecayTable(weight: number, ratios: readonly number[]): DecayTable {
  return { weight, distances: Array.from({ length: 10 }, (_, index) => index + 1), rows: ratios.map((ratio) => aDecayRow(ratio, weight)) }
}

export function aMarker(given: Partial<KeepitMarker> = {}): KeepitMarker {
  return {
    marker_id: 'k1',
    session_id: '7c41e0b2-0000-4000-8000-000000000001',
    message_uuid: 'u230',
    message_index: 230,
    weight: 0.75,
    text_weight: null,
    content: 'Decision: refresh is single-flight per session.',
    start: 0,
    end: 62,
    context: '',
    source: 'text',
    created_at: '2026-01-20T10:00:00.000Z',
    survived_in: [],
    summarized_in: [],
    ...given,
  }
}
