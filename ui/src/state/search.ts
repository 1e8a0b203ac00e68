//! What the search remembers while the window is open: whether the palette is shown, and what was last looked for.

import { ref, shallowRef } from 'vue'
import type { SessionId } from '../api/generated/SessionId'
import type { SearchFilters } from '../utils/searchFilters'

export const paletteOpen = ref(false)
export const searchText = ref('')
export const searchFilters = shallowRef<SearchFilters>({})

/** A message that a session is opened at. */
export interface SoughtMessage {
  session: SessionId
  index: number
}

/** The message to show once its session is; taken by the conversation that shows it. */
export const soughtMessage = shallowRef<SoughtMessage>()
