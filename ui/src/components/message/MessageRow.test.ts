import { render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { describe, expect, it, vi } from 'vitest'
import { computed, defineComponent, h } from 'vue'
import type { MessageView } from '../../api/generated/MessageView'
import { provideConversation } from '../../composables/useConversation'
import { aKeepit, aMessage } from '../../testing/builders'
import { conversationRows, cutResultsByCall, resultsByCall } from '../../utils/conversation'
import MessageRow from './MessageRow.vue'

function show(messages: MessageView[]) {
  const openKeepit = vi.fn()
  const openLink = vi.fn()
  const showWhole = vi.fn(() => Promise.resolve())
  const rows = [...conversationRows(0, messages.length - 1, (index) => messages[index]).values()]
  const component = defineComponent({
    setup() {
      provideConversation({ session: computed(() => 's'), projectPath: computed(() => '/p'), results: computed(() => resultsByCall(messages)), cutResults: computed(() => cutResultsByCall(messages)), showWhole, transcript: computed(() => undefined), agents: computed(() => new Map()), openMarker: computed(() => undefined), openKeepit, openLink })
      return () => rows.map((row) => h(MessageRow, { row }))
    },
  })
  const { container } = render(component)
  return { container, openKeepit, openLink, showWhole }
}

describe('a row of the conversation', () => {
  it('of hostile text runs, loads and navigates nothing', async () => {
    const { container, openLink } = show([aMessage({ role: 'assistant', text: '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\n\n[go](javascript:window.hacked=1) ![](https://evil.example/x.png)' })])
    expect(container.querySelectorAll('script, img, a, iframe, style')).toHaveLength(0)
    expect(container).toHaveTextContent('<script>window.hacked = 1</script>')
    await userEvent.click(screen.getByRole('link', { name: 'go' }))
    expect(openLink, 'a link is told to the frame, which asks first').toHaveBeenCalledWith('javascript:window.hacked=1')
    expect('hacked' in window).toBe(false)
  })

  it('of hostile tool results shows them as text', async () => {
    const { container } = show([
      aMessage({ index: 0, role: 'assistant', blocks: [{ type: 'tool_use', id: 't', name: 'Read', input: { file_path: '/p/<b>x</b>.html' } }] }),
      aMessage({ index: 1, role: 'tool', blocks: [{ type: 'tool_result', tool_use_id: 't', text: '<img src=x onerror=alert(1)>', is_error: false }] }),
    ])
    await userEvent.click(screen.getByRole('button', { name: /Read/ }))
    expect(container.querySelectorAll('img')).toHaveLength(0)
    expect(container).toHaveTextContent('<img src=x onerror=alert(1)>')
  })

  it('folds a call to a line, and unfolds its change as a diff', async () => {
    show([
      aMessage({ index: 0, role: 'assistant', blocks: [{ type: 'tool_use', id: 't', name: 'Edit', input: { file_path: '/p/src/a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' } }] }),
      aMessage({ index: 1, role: 'tool', blocks: [{ type: 'tool_result', tool_use_id: 't', text: 'ok', is_error: false }] }),
    ])
    const line = screen.getByRole('button', { name: /Edit/ })
    expect(line).toHaveTextContent('src/a.ts')
    expect(line).toHaveTextContent('+1')
    expect(screen.queryByRole('table')).toBeNull()
    await userEvent.click(line)
    expect(line).toHaveAttribute('aria-expanded', 'true')
    expect(screen.getByRole('table', { name: /1 lines added, 1 removed/ })).toBeInTheDocument()
  })

  it('shows a marked passage without its marker, and opens it by its chip', async () => {
    const text = 'Before.\n\n##keepit0.75## Decision: one lock.'
    const marker = aKeepit({ weight: 0.75, start: 9, end: text.length })
    const { container, openKeepit } = show([aMessage({ text, keepits: [marker] })])
    expect(container).not.toHaveTextContent('##')
    await userEvent.click(screen.getByRole('button', { name: 'Keepit 0.75 Important, edit' }))
    expect(openKeepit).toHaveBeenCalledWith(marker, container.querySelector('.keep'))
  })

  it('folds thinking and what the client put in', async () => {
    show([aMessage({ index: 0, role: 'assistant', blocks: [{ type: 'thinking', text: 'First line of thought\n\n- a point' }] }), aMessage({ index: 1, kind: 'meta', text: 'Caveat: read this' })])
    const thought = screen.getByRole('button', { name: /Thinking/ })
    expect(screen.queryByRole('listitem')).toBeNull()
    await userEvent.click(thought)
    expect(screen.getByRole('listitem')).toHaveTextContent('a point')
    expect(screen.getByRole('button', { name: /Put in by the client/ })).toHaveAttribute('aria-expanded', 'false')
  })

  it('of which only the beginning was read says so, and reads all of it', async () => {
    const message = aMessage({ role: 'assistant', text: 'A long story', cut: 1_200_000 })
    const { showWhole } = show([message])
    expect(screen.getByTestId('cut-mark')).toHaveTextContent('Cut here: 1,200,000 more characters')
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
    expect(showWhole).toHaveBeenCalledWith(message)
  })

  it('of a result that the client cut says it at the call, where its text is', async () => {
    show([
      aMessage({ index: 0, role: 'assistant', blocks: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }] }),
      aMessage({ index: 1, role: 'tool', cut_lines: 46, blocks: [{ type: 'tool_result', tool_use_id: 't', text: 'a', is_error: false }] }),
    ])
    expect(screen.getByRole('img', { name: 'Not all of the result is here' })).toBeInTheDocument()
    await userEvent.click(screen.getByRole('button', { name: /Bash/ }))
    expect(screen.getByTestId('cut-mark')).toHaveTextContent('Claude Code left 46 lines out when it exported')
  })

  it('that a hook wrote is folded, not said by the user', async () => {
    const { container } = show([aMessage({ text: '<session-start-hook>Today is Monday.</session-start-hook>' }), aMessage({ index: 1, blocks: [{ type: 'text', text: '<ide_opened_file>a.ts</ide_opened_file>' }, { type: 'text', text: 'Rename it.' }] })])
    const fold = screen.getByRole('button', { name: /From a hook/ })
    expect(fold).toHaveTextContent('Today is Monday.')
    expect(screen.getByRole('button', { name: /From the editor/ })).toBeInTheDocument()
    expect(container.querySelectorAll('.said'), 'only what the user wrote is a turn').toHaveLength(1)
    await userEvent.click(fold)
    expect(fold).toHaveAttribute('aria-expanded', 'true')
  })
})
