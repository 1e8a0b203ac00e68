import { fireEvent, render, screen, waitFor } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { aSession } from '../../testing/builders'
import { withProviders } from '../../testing/render'
import { useTestHost, type TestHost } from '../../testing/host'
import SessionList from './SessionList.vue'

const sessions = [
  aSession({ session_id: 'a', title: 'First', last_timestamp: '2026-01-20T10:00:00.000Z', tokens: 100_234, keepits: 7, versions: 3 }),
  aSession({ session_id: 'b', title: 'Second', last_timestamp: '2026-01-19T10:00:00.000Z', live: true }),
  aSession({ session_id: 'c', title: 'Third', last_timestamp: '2025-12-19T10:00:00.000Z' }),
]
let host: TestHost

beforeEach(() => {
  host = useTestHost({ session_list: ({ filter }) => ({ sessions: filter == null ? sessions : sessions.filter((session) => session.title.toLowerCase().includes(filter)), total: sessions.length }) })
})

async function show(props: Record<string, unknown> = {}) {
  const opened = vi.fn()
  const entered = vi.fn()
  const chosen = vi.fn()
  render(withProviders(SessionList, { onOpen: opened, onEnter: entered, onChosen: chosen, ...props }))
  await screen.findByText('First')
  return { opened, entered, chosen }
}
const titles = () => screen.getAllByRole('option').map((row) => row.querySelector('.title')?.textContent)

describe('the list of sessions', () => {
  it('shows months with their sums, and what each session is', async () => {
    await show()
    expect(screen.getByText('January 2026').parentElement).toHaveTextContent('2 · 101k')
    expect(titles()).toEqual(['First', 'Second', 'Third'])
    const first = screen.getAllByRole('option')[0]
    expect(first).toHaveTextContent('100k')
    expect(first).toHaveTextContent('7')
    expect(first?.querySelector('[aria-label="3 versions"]')).not.toBeNull()
    expect(screen.getByRole('img', { name: 'Live' })).toBeInTheDocument()
  })

  it('opens sessions by the arrow keys, and goes into one by Enter', async () => {
    const { opened, entered } = await show()
    screen.getByRole('listbox').focus()
    await userEvent.keyboard('{ArrowDown}{ArrowDown}{Enter}')
    expect(opened.mock.calls.map((call) => (call[0] as { session_id: string }).session_id)).toEqual(['a', 'b'])
    expect(entered).toHaveBeenCalledWith(sessions[1])
    expect(screen.getByRole('listbox')).toHaveAttribute('aria-activedescendant', 'session-b')
  })

  it('chooses a range by Shift and one more by the main modifier, without opening them', async () => {
    const { opened, chosen } = await show()
    const [first, , third] = screen.getAllByRole('option')
    if (first === undefined || third === undefined) throw new Error('three rows are shown')
    await fireEvent.click(first)
    await fireEvent.click(third, { shiftKey: true })
    expect(chosen.mock.lastCall?.[0]).toHaveLength(3)
    await fireEvent.click(first, { ctrlKey: true })
    expect((chosen.mock.lastCall?.[0] as { session_id: string }[]).map((session) => session.session_id)).toEqual(['b', 'c'])
    expect(opened, 'choosing several opens none of them').toHaveBeenCalledTimes(1)
  })

  it('filters by what is typed, and says so when nothing is left', async () => {
    await show()
    const field = screen.getByRole('searchbox')
    await userEvent.type(field, 'sec')
    await waitFor(() => expect(titles()).toEqual(['Second']))
    await userEvent.type(field, 'zzz')
    expect(await screen.findByText(/No session holds/)).toBeInTheDocument()
    await userEvent.keyboard('{Escape}')
    await waitFor(() => expect(titles()).toHaveLength(3))
    expect(screen.getByRole('listbox'), 'Escape goes back to the list').toBeInTheDocument()
  })

  it('says what failed, and tries again', async () => {
    host.answers.session_list = () => Promise.reject(Object.assign(new Error(), { kind: 'io', message: 'disk failure' }))
    render(withProviders(SessionList, {}))
    expect(await screen.findByRole('alert')).toHaveTextContent('Disk failure.')
    host.answers.session_list = () => ({ sessions, total: 3 })
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('First')).toBeInTheDocument()
  })
})
