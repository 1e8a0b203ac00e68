//! Weights as people type them.

/** `0.8`, `.8`, `0,80` and `80 %` are weights; two decimals, 0 to 1. Nothing for what is none. */
export function parseWeight(typed: string): number | undefined {
  const text = typed.trim().replace(',', '.')
  const match = /^(\d+(?:\.\d*)?|\.\d+)\s*(%?)$/.exec(text)
  if (match === null) return undefined
  const value = match[2] === '%' ? Number(match[1]) / 100 : Number(match[1])
  return value > 1 ? undefined : roundWeight(value)
}

/** Two decimals within 0 and 1. */
export function roundWeight(value: number): number {
  return Math.min(1, Math.max(0, Math.round(value * 100) / 100))
}

const SNAP = 0.02

/** The preset stop beside a weight, when the pointer is near one; the weight itself else. */
export function snapToPreset(value: number, presets: readonly { weight: number }[]): number {
  return presets.find((preset) => Math.abs(preset.weight - value) < SNAP)?.weight ?? roundWeight(value)
}
