//! Figures of tokens as people type them.

import { count } from './format'

/** `16000`, `16,000`, `16 000`, `16k`, `1.5M` as a whole number; nothing for what is no such figure. */
export function parseTokens(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([km])?$/i.exec(text.trim().replace(/(?<=\d)[,_\s](?=\d{3}(?!\d))/g, ''))
  if (match === null) return undefined
  const unit = match[2]?.toLowerCase()
  const value = Number(match[1]) * (unit === 'k' ? 1000 : unit === 'm' ? 1_000_000 : 1)
  return Number.isSafeInteger(Math.round(value)) && (unit !== undefined || Number.isInteger(value)) ? Math.round(value) : undefined
}

/** What was typed, in the way that figures are written here; left alone when it is none. */
export function tidyTokens(text: string): string {
  const value = parseTokens(text)
  return value === undefined ? text : count(value)
}

/** `22:1`, `4.5:1`. */
export function ratio(original: number, output: number): string {
  if (output <= 0) return '–'
  const value = original / output
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value))}:1`
}
