//! Where a version comes from, what of the session its parts tell, and what verifying it found, in words.

import type { Version } from '../../api/generated/Version'
import type { VersionPart } from '../../api/generated/VersionPart'
import type { VersionVerified } from '../../api/generated/VersionVerified'
import { count } from '../../utils/format'

/** `from v001`, `extends v001`, `v001 with a part made anew`; nothing for one of the original. */
export function lineageWords(version: Pick<Version, 'lineage' | 'source_version'>): string {
  if (version.source_version == null) return ''
  if (version.lineage === 'extended') return `extends ${version.source_version}`
  return version.lineage === 'part' ? `${version.source_version} with a part made anew` : `from ${version.source_version}`
}

/** `messages 1 – 450`. */
export function partRange(part: Pick<VersionPart, 'first' | 'last'>): string {
  return part.first === part.last ? `message ${count(part.first + 1)}` : `messages ${count(part.first + 1)} – ${count(part.last + 1)}`
}

export interface VerifiedText {
  text: string
  tone: 'ok' | 'warn'
  title: string
}

export function verifiedWords(found: VersionVerified | 'verifying' | undefined): VerifiedText {
  if (found === undefined || found === 'verifying') return { text: '', tone: 'ok', title: '' }
  const how = found.by === 'text' ? 'Made again from the original: the same, byte for byte' : 'A model would not say the same again; what it was made from is unchanged, and so are its files'
  if (found.identical) return { text: found.by === 'text' ? 'identical' : 'as it was made', tone: 'ok', title: how }
  const line = found.difference == null ? [] : [`Line ${count(found.difference.line)}: “${found.difference.stored ?? ''}” is now “${found.difference.made_again ?? ''}”`]
  return { text: 'differs', tone: 'warn', title: [...found.reasons, ...line].join('\n') }
}
