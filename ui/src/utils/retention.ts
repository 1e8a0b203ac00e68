//! Which versions a clean-up keeps: the rules of `storage.compressionRetention`.

export interface KeepOption {
  value: string
  label: string
}

const READY: readonly KeepOption[] = [
  { value: 'all', label: 'All' },
  { value: 'used', label: 'Only what is used' },
  { value: 'last:3', label: 'The newest 3' },
  { value: 'last:1', label: 'The newest' },
  { value: 'days:30', label: 'Those of the last 30 days' },
  { value: 'days:90', label: 'Those of the last 90 days' },
]

/** The rule of the setting; all when it says nothing. */
export function keepRule(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : 'all'
}

/** Rules to choose from, the setting's own among them. */
export function keepOptions(own: string): KeepOption[] {
  return READY.some((option) => option.value === own) ? [...READY] : [{ value: own, label: ruleWords(own) }, ...READY]
}

/** A rule in words. */
export function ruleWords(rule: string): string {
  const ready = READY.find((option) => option.value === rule)
  const [kind, number = ''] = rule.split(':')
  if (ready !== undefined) return ready.label
  if (kind === 'last') return `The newest ${number}`
  return kind === 'days' ? `Those of the last ${number} days` : rule
}
