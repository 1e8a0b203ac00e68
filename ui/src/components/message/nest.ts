//! The conversation of a sub-agent within that of its session: its own results, all else shared.

import { provide } from 'vue'
import { conversationKey, type Conversation } from '../../composables/useConversation'

export function nestConversation(outer: Conversation, own: Pick<Conversation, 'results' | 'cutResults' | 'showWhole'>): void {
  provide(conversationKey, { ...outer, ...own })
}
