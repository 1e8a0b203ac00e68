//! What the parts of a conversation share: which are unfolded, results and runs of sub-agents, and where clicks go.

import { inject, provide, shallowReactive, type InjectionKey, type Ref } from 'vue'
import type { Agent } from '../api/generated/Agent'
import type { KeepitMarker } from '../api/generated/KeepitMarker'
import type { MessageView } from '../api/generated/MessageView'
import type { ToolResult } from '../utils/conversation'

export interface Conversation {
  session: Ref<string>
  projectPath: Ref<string>
  /** Names of what is unfolded; kept while rows come and go. */
  unfolded: Set<string>
  results: Ref<ReadonlyMap<string, ToolResult>>
  /** Messages of results of which something is missing, by their call. */
  cutResults: Ref<ReadonlyMap<string, MessageView>>
  /** Reads all of a message of which the window took only the beginning. */
  showWhole: (message: MessageView) => Promise<void>
  /** The session whose transcript has all of what an export says; for exports that are paired. */
  transcript: Ref<string | undefined>
  /** Runs of sub-agents by the call that started them. */
  agents: Ref<ReadonlyMap<string, Agent>>
  /** The marker whose editor is open. */
  openMarker: Ref<string | undefined>
  openKeepit: (marker: KeepitMarker, anchor: HTMLElement) => void
  openLink: (url: string) => void
}

export const conversationKey: InjectionKey<Conversation> = Symbol('conversation')

export function provideConversation(given: Omit<Conversation, 'unfolded'>): Conversation {
  const conversation = { ...given, unfolded: shallowReactive(new Set<string>()) }
  provide(conversationKey, conversation)
  return conversation
}

export function useConversation(): Conversation {
  const conversation = inject(conversationKey)
  if (conversation === undefined) throw new Error('parts of a conversation stand within one')
  return conversation
}

/** Folds or unfolds a part by its name. */
export function toggle(conversation: Conversation, name: string): void {
  if (!conversation.unfolded.delete(name)) conversation.unfolded.add(name)
}
