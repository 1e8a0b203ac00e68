//! What a compression by a language model would send and cost, in words.

import type { CompressionEngine } from '../api/generated/CompressionEngine'
import type { CompressionEstimate } from '../api/generated/CompressionEstimate'
import { counted, short } from './format'
import { dollars } from './money'

/** `about $0.21`; `free` where nothing is charged; nothing while it is not known. */
export function costWords(estimate: Pick<CompressionEstimate, 'cost'> | undefined): string {
  if (estimate?.cost == null) return ''
  return estimate.cost === 0 ? 'free' : `about ${dollars(estimate.cost)}`
}

/** `Sends 41k tokens to Anthropic in 14 calls, about $0.21. 3 secrets are redacted.` */
export function estimateWords(estimate: CompressionEstimate, engine: Pick<CompressionEngine, 'label'> | undefined): string {
  const to = engine?.label ?? estimate.engine
  if (estimate.calls === 0) return `Nothing is left to ask: all answers of ${to} are kept.`
  const cost = costWords(estimate)
  const sends = estimate.leaves_machine ? `Sends ${short(estimate.input_tokens)} tokens to ${to}` : `${to} reads ${short(estimate.input_tokens)} tokens on this machine; nothing leaves it`
  const secrets = estimate.redactions.reduce((sum, each) => sum + each.count, 0)
  return `${sends}, ${counted(estimate.calls, 'call')}${cost === '' ? '' : `, ${cost}`}.${secrets > 0 ? ` ${counted(secrets, 'secret')} ${secrets === 1 ? 'is' : 'are'} redacted.` : ''}`
}

/** Why it may not run; nothing when it may. */
export function capWords(estimate: CompressionEstimate): string | undefined {
  if (!estimate.over_cap) return undefined
  if (estimate.cost == null) return `Nobody knows what ${estimate.model ?? estimate.engine} costs: add its prices to the settings, or take the cap away.`
  return `It would cost about ${dollars(estimate.cost)}; the most that a compression may cost is ${dollars(estimate.cap ?? 0)}.`
}

/** `2 API keys, 1 password in a URL`. */
export function redactionWords(estimate: CompressionEstimate): string {
  return estimate.redactions.map((each) => `${String(each.count)} × ${each.kind}`).join(', ')
}
