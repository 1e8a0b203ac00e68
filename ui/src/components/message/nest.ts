//! The conversation of a sub-agent within that of its session: its own results, all else shared.

import { provide, type Ref } from 'vue'
import { conversationKey, type Conversation } from '../../composables/useConversation'
import type { ToolResult } from '../../utils/conversation'

export function nestConversation(outer: Conversation, results: Ref<ReadonlyMap<string, ToolResult>>): void {
  provide(conversationKey, { ...outer, results })
}
