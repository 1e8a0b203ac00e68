//! What the dialog asks, and the request that it makes of it.

import type { Aggressiveness } from '../../api/generated/Aggressiveness'
import type { CompressionMode } from '../../api/generated/CompressionMode'
import type { CompressionPreview } from '../../api/generated/CompressionPreview'
import type { CompressionRequest } from '../../api/generated/CompressionRequest'
import type { CompressionSettings } from '../../api/generated/CompressionSettings'
import type { PartRequest } from '../../api/generated/PartRequest'
import type { KeepitMode } from '../../api/generated/KeepitMode'
import type { TierConfig } from '../../api/generated/TierConfig'
import type { TierPreset } from '../../api/generated/TierPreset'
import { READY_TIERS, type ReadyPreset } from './tiers'

export const ORIGINAL = 'original'
export const RATIO_PRESETS = [2, 4, 10, 20, 30, 50] as const

export interface CompressForm {
  mode: CompressionMode
  ratio: number
  level: Aggressiveness | 'auto'
  preset: TierPreset
  /** The ready set that the tiers are, or come from. */
  base: ReadyPreset
  tiers: TierConfig[]
  keepits: KeepitMode
  /** Set by hand for this version; the session's own if not. */
  distance: number | undefined
  skip: number
  /** A version, or the original. */
  from: string
  /** All anew, although a version could be extended. */
  full: boolean
  /** Only one part of a version. */
  part: PartRequest | undefined
  /** Who compresses; the built-in engine if nothing is said. */
  engine: string
  /** The model of a language-model engine; its own choice when empty. */
  model: string
  /** The most that this one may cost, in dollars; by the settings if not given. */
  cap: number | undefined
}

/** The engine that works on this machine, without a model. */
export const BUILT_IN = 'extractive'

export function firstForm(preset: ReadyPreset = 'standard', keepits: KeepitMode = 'decay'): CompressForm {
  return { mode: 'tiered', ratio: 10, level: 'auto', preset, base: preset, tiers: READY_TIERS[preset].map((each) => ({ ...each })), keepits, distance: undefined, skip: 0, from: ORIGINAL, full: false, part: undefined, engine: BUILT_IN, model: '', cap: undefined }
}

/** How the dialog begins, when it goes on from a version. */
export interface CompressHow {
  like?: CompressionSettings
  part?: PartRequest
}

/** The form that would make settings again, to begin with what a version was made with. */
export function formOf(settings: CompressionSettings): CompressForm {
  const preset = settings.tier_preset ?? 'standard'
  const base: ReadyPreset = preset === 'custom' ? 'standard' : preset
  const first = firstForm(base, settings.keepit_mode)
  return {
    ...first,
    mode: settings.mode,
    ratio: settings.compaction_ratio ?? first.ratio,
    level: settings.aggressiveness ?? 'auto',
    preset,
    tiers: preset === 'custom' && settings.custom_tiers != null ? settings.custom_tiers.map((each) => ({ ...each })) : first.tiers,
    distance: settings.session_distance ?? undefined,
    skip: settings.skip_first_messages,
    engine: settings.engine ?? BUILT_IN,
    model: settings.model ?? '',
  }
}

export function requestOf(session: string, form: CompressForm): CompressionRequest {
  const outside = form.engine === BUILT_IN ? {} : { engine: form.engine, model: form.model === '' ? null : form.model, max_cost: form.cap ?? null }
  const shared = { skip_first_messages: form.skip, keepit_mode: form.keepits, session_distance: form.distance ?? null, ...outside }
  const settings: CompressionSettings =
    form.mode === 'uniform'
      ? { mode: 'uniform', compaction_ratio: form.ratio, aggressiveness: form.level === 'auto' ? null : form.level, ...shared }
      : { mode: 'tiered', tier_preset: form.preset, custom_tiers: form.preset === 'custom' ? form.tiers : null, ...shared }
  return { session, from: form.from === ORIGINAL ? null : form.from, settings, full: form.full, part: form.part ?? null }
}

/** `30`, `30:1` and `7.5` are ratios; above 1, at most 1000. */
export function parseRatio(typed: string): number | undefined {
  const match = /^(\d+(?:[.,]\d+)?)\s*(?::\s*1)?$/.exec(typed.trim())
  if (match?.[1] === undefined) return undefined
  const ratio = Number(match[1].replace(',', '.'))
  return ratio > 1 && ratio <= 1000 ? ratio : undefined
}

/** `30:1`, `14.8:1`. */
export function ratioText(ratio: number): string {
  return `${String(Math.round(ratio * 10) / 10)}:1`
}

/** The next gentler ratio, for when a budget is too small. */
export function gentlerRatio(ratio: number): number | undefined {
  const next = RATIO_PRESETS.findLast((each) => each < ratio) ?? (ratio > 1.5 ? 1.5 : undefined)
  return next
}

/** How settings are named in lists: `uniform 30:1`, `tiered, standard`. */
export function settingsText(settings: CompressionSettings): string {
  const how = settings.mode === 'tiered' ? `tiered, ${settings.tier_preset ?? 'custom'}` : settings.compaction_ratio == null ? 'uniform' : `uniform ${ratioText(settings.compaction_ratio)}`
  return settings.engine == null || settings.engine === BUILT_IN ? how : `${how}, by ${settings.model ?? settings.engine}`
}

/** How many messages a preview compresses that the version it extends has not. */
export function newMessages(preview: Pick<CompressionPreview, 'parts'>): number {
  return preview.parts.filter((part) => part.made_in === 'new').reduce((sum, part) => sum + part.last - part.first + 1, 0)
}
