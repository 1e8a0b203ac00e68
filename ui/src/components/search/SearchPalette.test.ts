import { render, screen, waitFor, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { SearchAnswer } from '../../api/generated/SearchAnswer'
import type { SearchHit } from '../../api/generated/SearchHit'
import type { SearchRequest } from '../../api/generated/SearchRequest'
import { searchFilters, searchText } from '../../state/search'
import { aHit, anAnswer } from '../../testing/builders'
import { useTestHost, type TestHost } from '../../testing/host'
import { withProviders } from '../../testing/render'
import SearchPalette from './SearchPalette.vue'

vi.setConfig({ testTimeout: 30_000 })

const race = aHit({ index: 238, role: 'assistant', snippet: 'the refresh token races', highlights: [[4, 17]] })
const agent = aHit({ index: 3, agent_id: 'a1', parent_index: 20, snippet: 'trace every caller', highlights: [] })
const kept = aHit({ kind: 'keepit', weight: 0.75, index: 230, marker_id: 'k1', snippet: 'never per tab', highlights: [] })
const title = aHit({ kind: 'session', index: null, message_uuid: null, snippet: 'Token refresh', highlights: [[0, 5]] })

interface Shown {
  host: TestHost
  user: ReturnType<typeof userEvent.setup>
  opened: SearchHit[]
  composed: SearchHit[]
  field: HTMLElement
}

async function show(answer: (request: SearchRequest) => SearchAnswer | Promise<SearchAnswer>): Promise<Shown> {
  const host = useTestHost({ search_query: answer })
  const shown = { opened: [] as SearchHit[], composed: [] as SearchHit[] }
  render(withProviders(SearchPalette, { open: true, onOpenHit: (hit: SearchHit) => shown.opened.push(hit), onCompose: (hit: SearchHit) => shown.composed.push(hit) }))
  return { host, user: userEvent.setup(), ...shown, field: await screen.findByRole('combobox', { name: 'Search' }) }
}

const asked = (host: TestHost): SearchRequest[] => host.calls.filter((call) => call.command === 'search_query').map((call) => call.request as SearchRequest)
const chosen = (): HTMLElement => screen.getByRole('option', { selected: true })

describe('the palette', () => {
  beforeEach(() => {
    searchText.value = ''
    searchFilters.value = {}
  })

  it('shows hits in groups while typing, with what was looked for set off', async () => {
    const { user, field } = await show(() => anAnswer({ hits: [race, kept, title], total: 27 }))
    expect(field).toHaveFocus()
    await user.type(field, 'refresh')
    const messages = await screen.findByRole('group', { name: 'Messages' })
    expect(within(messages).getByText('refresh token', { selector: 'mark' })).toBeInTheDocument()
    expect(screen.getByText('27 in 11 ms')).toBeInTheDocument()
    expect(within(screen.getByRole('group', { name: 'Keepits' })).getByText('0.75')).toBeInTheDocument()
    expect(screen.getByRole('group', { name: 'Sessions' })).toBeInTheDocument()
  })

  it('drops an answer to what no longer stands there', async () => {
    const waiting = new Map<string, (answer: SearchAnswer) => void>()
    const { user, field } = await show((request) => new Promise((resolve) => waiting.set(request.query, resolve)))
    await user.type(field, 'ref')
    await waitFor(() => expect(waiting.has('ref')).toBe(true))
    await user.type(field, 'resh')
    await waitFor(() => expect(waiting.has('refresh')).toBe(true))
    waiting.get('refresh')?.(anAnswer({ hits: [race] }))
    await screen.findByRole('group', { name: 'Messages' })
    waiting.get('ref')?.(anAnswer({ hits: [title] }))
    await Promise.resolve()
    expect(screen.queryByRole('group', { name: 'Sessions' }), 'the late answer to `ref` must not be shown').toBeNull()
  })

  it('is used by keys alone', async () => {
    const { user, field, opened } = await show(() => anAnswer({ hits: [race, agent, kept] }))
    await user.type(field, 'token')
    await screen.findByRole('group', { name: 'Messages' })
    expect(chosen()).toHaveAccessibleName(expect.stringContaining('message 239'))
    await user.keyboard('{ArrowDown}')
    expect(chosen()).toHaveAccessibleName(expect.stringContaining('sub-agent, message 21'))
    await user.keyboard('{ArrowUp}{ArrowUp}')
    expect(chosen(), 'the list goes round').toHaveAccessibleName(expect.stringContaining('never per tab'))
    await user.keyboard('{Enter}')
    expect(opened).toEqual([kept])
  })

  it('opens what the last words find when Enter comes before their answer', async () => {
    const { user, field, opened } = await show(({ query }) => anAnswer({ hits: query === 'token' ? [kept] : [race] }))
    await user.type(field, 'toke')
    await screen.findByRole('group', { name: 'Messages' })
    await user.type(field, 'n{Enter}')
    await waitFor(() => expect(opened, 'the hit of fewer letters is not what was meant').toEqual([kept]))
  })

  it('takes a session into the composition by Control and Enter', async () => {
    const { user, field, opened, composed } = await show(() => anAnswer({ hits: [race, kept] }))
    await user.type(field, 'token')
    await screen.findByRole('group', { name: 'Messages' })
    await user.keyboard('{Control>}{Enter}{/Control}')
    expect([composed, opened]).toEqual([[race], []])
  })

  it('asks with the filters of its chips, which can be taken away', async () => {
    searchFilters.value = { project: { id: 'p1', name: 'my-app' } }
    const { host, user, field } = await show(() => anAnswer())
    await user.type(field, 'race')
    await waitFor(() => expect(asked(host).at(-1)).toMatchObject({ query: 'race', project: 'p1' }))
    await user.click(screen.getByRole('button', { name: 'Remove the filter in my-app' }))
    await waitFor(() => expect(asked(host).at(-1)?.project).toBeNull())
    expect(screen.getByText('Nothing found')).toBeInTheDocument()
  })

  it('says what was looked for instead, and what cannot be found yet', async () => {
    const { user, field } = await show(() => anAnswer({ hits: [race], corrections: [{ typed: 'refrsh', words: ['refresh'] }], pending: 1200 }))
    await user.type(field, 'refrsh')
    expect(await screen.findByText('Nothing has “refrsh”. Looked for “refresh”.')).toBeInTheDocument()
    expect(screen.getByText(/1,200 messages cannot be found yet/)).toBeInTheDocument()
  })

  it('looks again when more can be found', async () => {
    const { host, user, field } = await show(() => anAnswer({ hits: [race] }))
    await user.type(field, 'race')
    await waitFor(() => expect(asked(host).at(-1)?.query).toBe('race'))
    const before = asked(host).length
    host.tell({ event: 'index_changed', pending: 0 })
    await waitFor(() => expect(asked(host).length).toBe(before + 1))
  })

  it('shows a failure with what is kept and a way to try again', async () => {
    let failing = true
    const { user, field } = await show(() => {
      if (failing) throw { kind: 'io', message: 'the disk is gone' } as unknown as Error
      return anAnswer({ hits: [race] })
    })
    await user.type(field, 'race')
    expect(await screen.findByText('The search failed')).toBeInTheDocument()
    failing = false
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByRole('group', { name: 'Messages' })).toBeInTheDocument()
  })
})
