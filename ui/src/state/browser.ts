//! What the browser remembers while the window is open: the folded list, the tab, the session last seen.

import { ref } from 'vue'

export const listFolded = ref(false)
export const sessionTab = ref<'messages' | 'versions' | 'keepits' | 'lineage'>('messages')
