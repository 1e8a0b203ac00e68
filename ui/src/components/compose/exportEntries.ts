//! What of a composition can be put on the clipboard, as entries of a menu.

import { Code, FileJson, FileText, Text } from '@lucide/vue'
import type { ExportFormat } from '../../api/generated/ExportFormat'
import type { MenuEntry } from '../shared/menu'

export function exportEntries(run: (format: ExportFormat) => void): MenuEntry[] {
  return [
    { label: 'Copy as Markdown', icon: FileText, run: () => run('markdown') },
    { label: 'Copy as XML prompt', icon: Code, run: () => run('xml') },
    { label: 'Copy as plain text', icon: Text, run: () => run('prompt') },
    { label: 'Copy as JSONL', icon: FileJson, run: () => run('jsonl') },
  ]
}
