import { render, screen, waitFor, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { DragDropProvider } from '@dnd-kit/vue'
import { TooltipProvider } from 'reka-ui'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Composition } from '../../api/generated/Composition'
import type { CompositionRequest } from '../../api/generated/CompositionRequest'
import { forgetPreviews } from '../../composables/useCompositionPreview'
import { addToDraft, draft, reloadDraft } from '../../state/compositionDraft'
import { aComposition, aComponent, aPreview, aSession } from '../../testing/builders'
import { useTestHost, type TestHost } from '../../testing/host'
import ComposeBuilder from './ComposeBuilder.vue'

// Many components in a simulated page: a loaded machine takes its time.
vi.setConfig({ testTimeout: 30_000 })

const ada = { sessionId: 'ada', title: 'Plan the architecture', tokens: 90_000, lastTimestamp: null }
const bob = { sessionId: 'bob', title: 'Rate limiter', tokens: 70_000, lastTimestamp: null }
const eve = { sessionId: 'eve', title: 'Token refresh', tokens: 50_000, lastTimestamp: null }

/** What the engine would say: each takes its share or, as an original, all that it has. */
function answered(request: CompositionRequest): ReturnType<typeof aPreview> {
  const components = request.components.map((component, order) => {
    const share = component.tokens ?? Math.floor(request.budget / request.components.length)
    return aComponent({ session_id: component.session, title: component.session, order, share, token_contribution: component.version === 'original' ? share + 1240 : share - 100, version_id: component.version === 'original' ? 'original' : 'v001', ...(component.version === 'original' ? { warning: 'original has 1,240 tokens more than its share', fix: 'v003' } : {}) })
  })
  return aPreview({ budget: request.budget, components, total_tokens: components.reduce((sum, component) => sum + component.token_contribution, 0) })
}

interface Shown {
  host: TestHost
  user: ReturnType<typeof userEvent.setup>
  continued: string[]
}

async function show(compositions: Composition[] = [], more: TestHost['answers'] = {}): Promise<Shown> {
  let job = 0
  const host = useTestHost({
    session_list: () => ({ sessions: [], total: 0 }),
    session_get: ({ session }) => ({ summary: aSession({ session_id: session }), project_path: '/p', places: [], bytes: 1, client_versions: [], models: [], usage_input_tokens: 0, usage_output_tokens: 0, other_records: [], agents: [], issues: [], registered_at: '2026-01-20T10:00:00.000Z', distance_by_hand: false, computed_distance: 1, exports: [] }),
    version_list: ({ session }) => ({ session_id: session, original_tokens: 1, original_messages: 1, versions: [] }),
    keepit_list: () => [],
    job_cancel: () => ({ was_running: true }),
    job_start: ({ command, request }) => {
      const job_id = `job-${String(++job)}`
      const answer = host.answers[command as 'composition_preview'] as ((request: unknown) => unknown) | undefined
      queueMicrotask(() => {
        try {
          host.tell({ event: 'job_done', job_id, response: answer?.(request) })
        } catch (error) {
          host.tell({ event: 'job_failed', job_id, error: error as { kind: 'over_budget'; message: string } })
        }
      })
      return { job_id }
    },
    composition_preview: answered,
    ...more,
  })
  const continued: string[] = []
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/compositions/:name?', name: 'compositions', component: { render: () => null } }, { path: '/:rest(.*)*', component: { render: () => null } }] })
  const page = defineComponent({ setup: () => () => h(TooltipProvider, null, () => h(DragDropProvider, null, () => h(ComposeBuilder, { compositions, onContinue: (name: string) => continued.push(name) }))) })
  render(page, { global: { plugins: [router] } })
  await nextTick()
  return { host, user: userEvent.setup(), continued }
}

const cards = (): string[] => screen.getAllByTestId('compose-card').map((card) => card.getAttribute('data-session') ?? '')

beforeEach(() => {
  localStorage.clear()
  reloadDraft()
  forgetPreviews()
  vi.stubGlobal('ResizeObserver', class { observe = vi.fn(); unobserve = vi.fn(); disconnect = vi.fn() })
  Element.prototype.scrollIntoView = () => undefined
})

describe('the timeline by keyboard', () => {
  beforeEach(() => addToDraft([ada, bob, eve]))

  it('moves a card with Alt and arrows, keeps the focus on it and says where it is', async () => {
    const { user } = await show()
    screen.getAllByTestId('compose-card')[0]?.focus()
    await user.keyboard('{Alt>}{ArrowRight}{/Alt}')
    expect(cards()).toEqual(['bob', 'ada', 'eve'])
    await waitFor(() => expect(document.activeElement?.getAttribute('data-session')).toBe('ada'))
    await waitFor(() => expect(screen.getByText('Plan the architecture is now 2 of 3')).toBeInTheDocument())
  })

  it('removes a card with Delete, goes on at its neighbour, and undo brings it back', async () => {
    const { user } = await show()
    screen.getAllByTestId('compose-card')[1]?.focus()
    await user.keyboard('{Delete}')
    expect(cards()).toEqual(['ada', 'eve'])
    await waitFor(() => expect(document.activeElement?.getAttribute('data-session')).toBe('eve'))
    await user.click(screen.getByRole('button', { name: 'Undo' }))
    expect(cards()).toEqual(['ada', 'bob', 'eve'])
  })

  it('does not remove a card while its share is typed', async () => {
    const { user } = await show()
    const share = within(screen.getAllByTestId('compose-card')[0] as HTMLElement).getByRole('textbox')
    await user.type(share, '40{Backspace}')
    expect(cards(), 'Backspace in a field belongs to the field').toHaveLength(3)
    expect(draft.value.cards[0]?.share).toBe('4')
  })
})

describe('the budget', () => {
  it('says what is used and free, and what is over', async () => {
    addToDraft([ada, bob])
    const { user } = await show()
    await waitFor(() => expect(screen.getByText('used, 200 free')).toBeInTheDocument())
    await user.clear(screen.getByTestId('compose-budget'))
    await user.type(screen.getByTestId('compose-budget'), 'much')
    expect(screen.getByText(/The budget is a number of tokens/)).toBeInTheDocument()
    expect(screen.getByTestId('compose-button')).toBeDisabled()
  })

  it('shows a version that is larger than its share with the version that mends it', async () => {
    addToDraft([ada, bob])
    const { user } = await show([], { composition_preview: (request) => answered({ ...request, components: request.components.map((each, index) => (index === 1 && each.version === 'auto' ? { ...each, version: 'original' } : each)) }) })
    await waitFor(() => expect(screen.getByText('1,240 over')).toBeInTheDocument())
    expect(screen.getByTestId('budget-bar').getAttribute('aria-label')).toContain('1,140 over budget')
    await user.click(screen.getByRole('button', { name: 'Use v003' }))
    expect(draft.value.cards[1]?.version).toBe('v003')
    await waitFor(() => expect(screen.queryByText('1,240 over')).not.toBeInTheDocument())
  })

  it('says in place which keepits do not fit', async () => {
    addToDraft([ada])
    await show([], { composition_preview: () => { throw { kind: 'over_budget', message: 'the keepits alone have 21,000 tokens', hint: 'give it at least 21,400' } as unknown as Error } })
    expect(await screen.findByText('This does not fit the budget')).toBeInTheDocument()
    expect(screen.getByText('Give it at least 21,400.')).toBeInTheDocument()
  })
})

describe('composing', () => {
  const made = (request: CompositionRequest): Composition => aComposition({ name: request.name, budget: request.budget })

  it('asks for a name first, then composes once and continues from it', async () => {
    addToDraft([ada])
    const { host, user, continued } = await show([], { composition_create: made })
    await user.click(screen.getByTestId('continue-button'))
    expect(screen.getByText('A composition needs a name.')).toBeInTheDocument()
    expect(document.activeElement).toBe(screen.getByTestId('compose-name'))
    await user.type(screen.getByTestId('compose-name'), 'feature-x')
    await user.click(screen.getByTestId('continue-button'))
    await waitFor(() => expect(continued).toEqual(['feature-x']))
    await user.click(screen.getByTestId('continue-button'))
    await waitFor(() => expect(continued).toHaveLength(2))
    const created = host.calls.filter((call) => (call.request as { command?: string }).command === 'composition_create')
    expect(created, 'what is composed as it stands is not composed again').toHaveLength(1)
  })

  it('asks before it replaces a composition of another draft', async () => {
    addToDraft([ada])
    const { host, user, continued } = await show([aComposition({ name: 'feature-x' })], { composition_create: made })
    await user.type(screen.getByTestId('compose-name'), 'Feature-X')
    expect(screen.getByText(/Composing replaces the one of this name/)).toBeInTheDocument()
    await user.click(screen.getByTestId('continue-button'))
    await user.click(await screen.findByRole('button', { name: 'Cancel' }))
    const creations = (): CompositionRequest[] => host.calls.map((call) => call.request as { command?: string; request: CompositionRequest }).filter((request) => request.command === 'composition_create').map((request) => request.request)
    expect(creations()).toHaveLength(0)
    await user.click(screen.getByTestId('continue-button'))
    await user.click(await screen.findByTestId('confirm-button'))
    await waitFor(() => expect(continued).toEqual(['Feature-X']))
    expect(creations()[0]?.replace).toBe(true)
  })

  it('keeps the draft and says what failed', async () => {
    addToDraft([ada])
    const { user } = await show([], { composition_create: () => { throw { kind: 'io', message: 'no space left on the disk' } as unknown as Error } })
    await user.type(screen.getByTestId('compose-name'), 'feature-x')
    await user.click(screen.getByTestId('compose-button'))
    expect(await screen.findByText(/No space left on the disk/)).toBeInTheDocument()
    expect(cards()).toEqual(['ada'])
  })

  it('needs a file to write', async () => {
    addToDraft([ada])
    const { user } = await show()
    await user.click(screen.getByRole('checkbox', { name: 'Markdown' }))
    await user.click(screen.getByRole('checkbox', { name: 'JSONL' }))
    expect(screen.getByTestId('compose-button')).toBeDisabled()
    expect(screen.getByTestId('compose-button')).toHaveAttribute('title', 'Choose Markdown, JSONL or both')
  })
})

it('is as it was after the window was closed', async () => {
  addToDraft([ada, bob])
  const { user } = await show()
  await user.type(screen.getByTestId('compose-name'), 'half a na')
  reloadDraft()
  expect(draft.value).toMatchObject({ name: 'half a na', cards: [{ sessionId: 'ada' }, { sessionId: 'bob' }] })
})
