import userEvent from '@testing-library/user-event'
import { screen, waitFor, within } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import { dismissToast, toast } from '../../state/toasts'
import { aMessage, aSession } from '../../testing/builders'
import { aDecayTable, aMarker } from '../../testing/decay'
import { renderFloating, type Floating } from '../../testing/floating'
import { useTestHost, type Answers, type TestHost } from '../../testing/host'
import KeepitPopover from './KeepitPopover.vue'
import type { KeepitTarget } from './target'

const anchor = { getBoundingClientRect: () => new DOMRect(10, 10, 100, 20) }

async function open(target: KeepitTarget, answers: Answers = {}): Promise<{ host: TestHost } & Floating> {
  dismissToast()
  const host = useTestHost({ decay_table: ({ weight, ratios }) => aDecayTable(weight, ratios ?? []), message_list: () => ({ messages: [aMessage({ index: 230 })], total: 300 }), ...answers })
  const floating = renderFloating(KeepitPopover, { session: aSession({ distance: 3 }), target, anchor }, ['close', 'changed'])
  await screen.findByTestId('keepit-popover')
  return { host, ...floating }
}
const weightField = (): HTMLElement => screen.getByTestId('keepit-weight')

describe('the keepit editor', () => {
  it('says how long the passage is kept, again for each weight that is typed', async () => {
    await open({ mode: 'edit', marker: aMarker() })
    expect(await screen.findByText('message 231, written by you')).toBeVisible()
    expect(await screen.findByText('Kept word for word up to distance 8. This session is at distance 3 now.')).toBeVisible()
    await userEvent.clear(weightField())
    await userEvent.type(weightField(), '0.8')
    expect(await screen.findByText('Kept word for word at any distance. This session is at distance 3 now.')).toBeVisible()
    expect(screen.getByTestId('decay-chart')).toHaveAccessibleName(/This keepit, 0.80, is kept at any distance/)
  })

  it('changes the chart by the ratio that is chosen, there or in the table', async () => {
    await open({ mode: 'edit', marker: aMarker() })
    await screen.findByTestId('decay-chart')
    await userEvent.click(screen.getByRole('radio', { name: '50' }))
    expect(screen.getByTestId('decay-chart')).toHaveAccessibleName(/At 50 to 1 .* lost from distance 6/)
    const fifteen = within(screen.getByTestId('decay-matrix')).getByRole('row', { name: /15:1 moderate/ })
    await userEvent.click(fifteen)
    expect(screen.getByTestId('decay-chart')).toHaveAccessibleName(/At 15 to 1/)
  })

  it('saves by Enter, over the transcript, and can be undone', async () => {
    const { host, told } = await open({ mode: 'edit', marker: aMarker() }, { keepit_set: ({ weight }) => aMarker({ weight, text_weight: 0.75 }) })
    await userEvent.clear(weightField())
    await userEvent.type(weightField(), '0.9{Enter}')
    await waitFor(() => expect(told['close']).toHaveLength(1))
    expect(host.calls.filter((call) => call.command === 'keepit_set')).toEqual([{ command: 'keepit_set', request: { marker: 'k1', weight: 0.9, write_transcript: false } }])
    toast.value?.action?.run()
    await waitFor(() => expect(host.calls.at(-1)).toEqual({ command: 'keepit_set', request: { marker: 'k1', weight: 0.75, write_transcript: false } }))
  })

  it('does not save what is no weight', async () => {
    const { host } = await open({ mode: 'edit', marker: aMarker() })
    await userEvent.clear(weightField())
    await userEvent.type(weightField(), '7{Enter}')
    expect(screen.getByRole('alert')).toHaveTextContent('A weight is a number from 0 to 1.')
    expect(host.calls.some((call) => call.command === 'keepit_set')).toBe(false)
  })

  it('steps with the arrows', async () => {
    await open({ mode: 'edit', marker: aMarker() })
    weightField().focus()
    await userEvent.keyboard('{ArrowUp}{ArrowUp}{ArrowDown}')
    expect(weightField()).toHaveValue('0.76')
    await userEvent.keyboard('{Shift>}{ArrowDown}{/Shift}')
    expect(weightField()).toHaveValue('0.66')
  })

  it('marks a new passage by where it stands in its message', async () => {
    const message = aMessage({ index: 4, text: 'Use SET NX.' })
    const { host, told } = await open({ mode: 'add', passage: { message, start: 4, end: 10, text: 'SET NX', rect: new DOMRect() } }, { keepit_add: ({ weight }) => aMarker({ weight, source: 'overlay' }) })
    await userEvent.click(screen.getByRole('button', { name: /Critical/ }))
    await userEvent.click(screen.getByTestId('keepit-save'))
    await waitFor(() => expect(told['changed']).toHaveLength(1))
    expect(host.calls.find((call) => call.command === 'keepit_add')?.request).toEqual({ session: aSession().session_id, message: 'u4', start: 4, end: 10, weight: 0.9 })
    expect(screen.queryByTestId('keepit-write'), 'there is no marker in the transcript to write').toBeNull()
  })

  it('writes into the transcript only after saying what that means, and shows a refusal in place', async () => {
    const { host, told } = await open(
      { mode: 'edit', marker: aMarker({ weight: 0.8 }) },
      {
        session_get: () => ({ places: ['/home/ada/.claude/projects/-x/7c41.jsonl'] }) as never,
        keepit_set: () => {
          throw { kind: 'conflict', message: 'the transcript changed since it was read', hint: 'read it again, then write' } as unknown as Error
        },
      },
    )
    await userEvent.click(screen.getByTestId('keepit-write'))
    const dialog = await screen.findByRole('dialog', { name: 'Write into the transcript' })
    expect(await within(dialog).findByText('~/.claude/projects/-x/7c41.jsonl')).toBeVisible()
    expect(host.calls.some((call) => call.command === 'keepit_set'), 'asking is not doing').toBe(false)
    await userEvent.click(within(dialog).getByTestId('keepit-write-confirm'))
    expect(await within(dialog).findByText('The transcript changed since it was read.')).toBeVisible()
    expect(host.calls.at(-1)?.request).toEqual({ marker: 'k1', weight: 0.8, write_transcript: true })
    expect(told['close'], 'the editor stays with the weight that was typed').toBeUndefined()
  })

  it('removes, and puts back from the toast', async () => {
    const { host } = await open({ mode: 'edit', marker: aMarker({ source: 'overlay', start: 5, end: 52 }) }, { keepit_remove: () => aMarker(), keepit_add: () => aMarker() })
    await userEvent.click(screen.getByRole('button', { name: 'Remove' }))
    await waitFor(() => expect(toast.value?.title).toBe('Keepit removed'))
    toast.value?.action?.run()
    await waitFor(() => expect(host.calls.at(-1)).toEqual({ command: 'keepit_add', request: { session: aSession().session_id, message: 'u230', start: 5, end: 52, weight: 0.75 } }))
  })
})
