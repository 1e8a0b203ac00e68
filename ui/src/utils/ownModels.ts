//! The user's own language models as they are typed, and as the setting `models.own` holds them.

import { count } from './format'
import { parseTokens } from './tokens'

export interface TypedModel {
  id: string
  label: string | undefined
  window: string
  input: string
  output: string
  /** A field of it was left: what it lacks is said from then on. */
  touched?: boolean
}

export const EMPTY_MODEL: TypedModel = { id: '', label: undefined, window: '', input: '', output: '' }

/** A model of the setting, to type in. */
export function typedModel(model: unknown): TypedModel {
  const given = typeof model === 'object' && model !== null ? (model as Record<string, unknown>) : {}
  const figure = (value: unknown): string => (typeof value === 'number' ? String(value) : '')
  return {
    id: typeof given['id'] === 'string' ? given['id'] : '',
    label: typeof given['label'] === 'string' ? given['label'] : undefined,
    window: typeof given['contextWindow'] === 'number' ? count(given['contextWindow']) : '',
    input: figure(given['inputPrice']),
    output: figure(given['outputPrice']),
  }
}

/** The models of the setting, and rows that are still being typed. */
export function mergedModels(models: readonly unknown[], typed: readonly TypedModel[]): TypedModel[] {
  const half = typed.filter((row) => modelFault(row) !== undefined)
  const whole = models.map(typedModel).filter((model) => !half.some((row) => row.id.trim() !== '' && row.id.trim() === model.id))
  return [...whole, ...half]
}

function price(text: string): number | undefined {
  const value = Number(text.trim().replace(/^\$/, '').replace(',', '.'))
  return text.trim() !== '' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** What is missing or wrong, as a sentence; nothing when it is whole. */
export function modelFault(row: TypedModel): string | undefined {
  if (row.id.trim() === '') return 'A model needs its name, as the endpoint knows it.'
  if ((parseTokens(row.window) ?? 0) < 1000) return `${row.id.trim()} needs its context window, at least 1,000 tokens.`
  for (const [text, what] of [[row.input, 'to read'], [row.output, 'to write']] as const) if (text.trim() !== '' && price(text) === undefined) return `The price ${what} of ${row.id.trim()} is no number of dollars.`
  return undefined
}

/** As the setting holds it. */
export function ownModelOf(row: TypedModel): Record<string, unknown> {
  const [input, output] = [price(row.input), price(row.output)]
  return { id: row.id.trim(), ...(row.label === undefined ? {} : { label: row.label }), contextWindow: parseTokens(row.window), ...(input === undefined ? {} : { inputPrice: input }), ...(output === undefined ? {} : { outputPrice: output }) }
}
