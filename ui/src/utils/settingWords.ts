//! Settings in words: their sections, names, what they mean. One that has no words here is named by its key, so that none is hidden.

import type { SettingState } from '../api/generated/SettingState'

interface Words {
  label: string
  about: string
  /** Names of the words that it may be. */
  words?: Record<string, string>
  unit?: string
}

const WORDS: Record<string, Words> = {
  'defaults.compressionPreset': { label: 'Tiers to begin with', about: 'What the dialog proposes; each compression can differ.', words: { gentle: 'Gentle', standard: 'Standard', aggressive: 'Aggressive' } },
  'defaults.keepitDecayEnabled': { label: 'Keepits decay', about: 'Off: every keepit is kept word for word unless a compression says otherwise.' },
  'defaults.model': { label: 'Model', about: 'Which model engines ask when none is chosen.' },
  'engines.maxCost': { label: 'Most a compression may cost', about: 'Nothing is asked when the estimate is above it, and a run stops at it.', unit: 'US dollars' },
  'engines.parallel': { label: 'Questions at once', about: 'How many chunks are asked for at the same time.', unit: 'calls' },
  'engines.patienceSeconds': { label: 'Patience', about: 'How long an answer may take before it is asked for again.', unit: 'seconds' },
  'engines.claude.program': { label: 'Claude Code', about: 'The program that is started, by name or whole path.' },
  'engines.anthropic.baseUrl': { label: 'Address of the Messages API', about: '' },
  'engines.openai.baseUrl': { label: 'Address of a compatible endpoint', about: 'Ollama, llama.cpp, vLLM, LM Studio or a service. Addresses of this machine send nothing away.' },
  'engines.openai.model': { label: 'Model of that endpoint', about: 'By the name that it knows it by.' },
  'models.own': { label: 'Models', about: 'Context windows and prices that estimates count with. Add your own, or one whose price has changed: with the same name it takes the place of ours.' },
  'defaults.autoRegisterSessions': { label: 'Begin by itself', about: 'A memory that is still empty takes in what Claude Code has, without being asked.' },
  'keepitDecay.compressionBase.light': { label: 'Base at light', about: 'Where the threshold begins at ratios up to 5:1.' },
  'keepitDecay.compressionBase.moderate': { label: 'Base at moderate', about: 'Where it begins from 6:1 to 15:1.' },
  'keepitDecay.compressionBase.aggressive': { label: 'Base at aggressive', about: 'Where it begins from 16:1.' },
  'keepitDecay.maxSessionDistance': { label: 'Greatest distance', about: 'Sessions further back than this decay no further.', unit: 'sessions' },
  'keepitDecay.pinnedWeight': { label: 'Pinned weight', about: 'From this weight a keepit always survives.' },
  'storage.maxCacheSize': { label: 'Cache', about: 'The most that interim results may take; the oldest go first.' },
  'storage.compressionRetention': { label: 'Keep versions', about: 'What a clean-up leaves: all, used, last:N of each session, or days:N. Versions in use always stay.' },
  'backup.automatic': { label: 'Back up once a day', about: 'While Recollect runs.' },
  'backup.folder': { label: 'Folder', about: 'Below the memory, unless it is a whole path.' },
  'backup.keep': { label: 'Keep', about: 'How many backups that were made by themselves stay.', unit: 'backups' },
  'watch.enabled': { label: 'Follow Claude Code', about: 'Sessions are kept as they are written.' },
  'watch.exportFolders': { label: 'Folders of exports', about: 'Exports that appear in these are taken in. With none, the usual places are looked through when asked.' },
  'ui.defaultView': { label: 'Session list', about: 'Under months with their sums, or plain.', words: { timeline: 'By month', list: 'Plain' } },
  'ui.showTokenEstimates': { label: 'Tokens in lists', about: 'How long each session is, beside its title.' },
  'ui.confirmDestructiveActions': { label: 'Ask before deleting', about: 'What compositions use is always asked about.' },
}

const SECTIONS: readonly { id: string; title: string; about: string; keys: readonly string[] }[] = [
  { id: 'compression', title: 'Compression', about: '', keys: ['defaults.compressionPreset', 'defaults.keepitDecayEnabled'] },
  { id: 'engines', title: 'Engines and models', about: 'The built-in engine works on this machine. Others send text away, and only when you pick them.', keys: ['engines.', 'defaults.model', 'models'] },
  { id: 'decay', title: 'Keepit decay', about: 'A keepit survives when its weight is at least base + ratio / 100 × distance / greatest distance.', keys: ['keepitDecay.'] },
  { id: 'storage', title: 'Storage', about: '', keys: ['storage.'] },
  { id: 'sources', title: 'Claude Code', about: '', keys: ['watch.enabled', 'defaults.autoRegisterSessions', 'watch.'] },
  { id: 'backups', title: 'Backups', about: '', keys: ['backup.'] },
  { id: 'window', title: 'Window', about: '', keys: ['ui.'] },
  { id: 'more', title: 'More', about: '', keys: [''] },
]

export interface SettingsSection {
  id: string
  title: string
  about: string
  settings: SettingState[]
}

/** Settings under their headings; a heading is there only when it has some. */
export function settingSections(settings: readonly SettingState[]): SettingsSection[] {
  const left = new Set(settings)
  return SECTIONS.map(({ id, title, about, keys }) => {
    const mine = keys.flatMap((key) => [...left].filter((setting) => (key === '' || key.endsWith('.') ? setting.key.startsWith(key) : setting.key === key || setting.key.startsWith(`${key}.`))).filter((setting) => left.delete(setting)))
    return { id, title, about, settings: mine }
  }).filter((section) => section.settings.length > 0)
}

export function settingWords(key: string): Words {
  const last = key.split('.').at(-1) ?? key
  const spaced = last.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return WORDS[key] ?? { label: spaced.charAt(0).toUpperCase() + spaced.slice(1), about: '' }
}

/** A value as it is read. */
export function valueText(key: string, value: unknown): string {
  const words = settingWords(key)
  if (typeof value === 'string') return words.words?.[value] ?? (value === '' ? 'none' : value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ')
  if (typeof value === 'number') return String(value)
  return JSON.stringify(value)
}

export function isDefault(setting: Pick<SettingState, 'value' | 'default'>): boolean {
  return JSON.stringify(setting.value) === JSON.stringify(setting.default)
}
