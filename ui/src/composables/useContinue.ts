//! "Continue": the session goes on in Claude Code, in a terminal; one that the client no longer has is composed first.

import { useRouter } from 'vue-router'
import { shell } from '../api/call'
import { wordsOf } from '../api/errors'
import type { SessionDetail } from '../api/generated/SessionDetail'
import { showToast } from '../state/toasts'

export function useContinue(): { continueSession: (detail: SessionDetail) => Promise<void> } {
  const router = useRouter()

  async function continueSession(detail: SessionDetail): Promise<void> {
    const { session_id: id, original_present: present } = detail.summary
    // Another content under one id is no session that the client could resume.
    if (!present || id.includes('~')) {
      await router.push({ name: 'compositions', query: { add: id } })
      showToast({ title: 'Compose it to continue', text: 'Claude Code no longer has this transcript; a composition of it can be resumed.' })
      return
    }
    try {
      await shell({ action: 'continue_in_terminal', session_id: id, cwd: detail.project_path })
    } catch (failure) {
      const words = wordsOf(failure)
      showToast({ title: words.message, tone: 'warn', ...(words.hint === null ? {} : { text: words.hint }) })
    }
  }
  return { continueSession }
}
