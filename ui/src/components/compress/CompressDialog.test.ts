import userEvent from '@testing-library/user-event'
import { screen, waitFor, within } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import type { CompressionEngine } from '../../api/generated/CompressionEngine'
import type { CompressionEstimate } from '../../api/generated/CompressionEstimate'
import type { CompressionRequest } from '../../api/generated/CompressionRequest'
import { toast } from '../../state/toasts'
import { aSession } from '../../testing/builders'
import { renderFloating, type Floating } from '../../testing/floating'
import { useTestHost, type Answers, type TestHost } from '../../testing/host'
import { aPreview, aVersion } from '../../testing/versions'
import CompressDialog from './CompressDialog.vue'

const aBuiltIn: CompressionEngine = { engine: 'extractive', label: 'Built in', leaves_machine: false, ready: true, models: [], needs_key: false, has_key: false }
const anthropic: CompressionEngine = { engine: 'anthropic', label: 'Anthropic', leaves_machine: true, ready: true, models: ['claude-sonnet-5-5'], needs_key: true, has_key: true }
const anEstimate: CompressionEstimate = { engine: 'anthropic', model: 'claude-sonnet-5-5', calls: 14, input_tokens: 41_000, output_tokens: 6000, cost: 0.21, cap: 1, over_cap: false, leaves_machine: true, redactions: [{ kind: 'API key', count: 3 }] }

async function open(answers: Answers = {}): Promise<{ host: TestHost } & Floating> {
  const session = aSession({ messages: 450, tokens: 100_234, keepits: 2, distance: 1 })
  const host = useTestHost({
    config_get: () => ({ config: {}, path: '', settings: [] }),
    session_get: () => ({ summary: session, distance_by_hand: false }) as never,
    session_map: () => ({ messages: 450, buckets: [{ first: 0, messages: 225, tokens: 60_000 }, { first: 225, messages: 225, tokens: 40_234 }], keepits: [{ marker_id: 'k1', index: 12, weight: 1 }], compactions: [] }),
    version_list: () => ({ session_id: session.session_id, original_tokens: 100_234, original_messages: 450, versions: [aVersion()] }),
    engine_list: () => [aBuiltIn],
    model_list: () => [],
    compression_preview: () => aPreview(),
    ...answers,
  })
  const floating = renderFloating(CompressDialog, { open: true, session }, ['created', 'openVersion', 'update:open'])
  await screen.findByTestId('compress-dialog')
  return { host, ...floating }
}
const previews = (host: TestHost): CompressionRequest[] => host.calls.filter((call) => call.command === 'compression_preview').map((call) => call.request as CompressionRequest)

describe('create a compression', () => {
  it('shows what it would give before anything is made', async () => {
    await open()
    const result = await screen.findByTestId('compress-result')
    expect(result).toHaveTextContent('100,234→6,758tokens')
    expect(result).toHaveTextContent('14.8:1')
    expect(result).toHaveTextContent('450 → 58')
    expect(result).toHaveTextContent('1 kept, 1 summarized')
    expect(within(result).getByRole('img', { name: 'Summarized' })).toBeVisible()
    await userEvent.click(within(result).getByRole('button', { name: '392 messages, listed' }))
    expect(await screen.findByText('over budget')).toBeVisible()
  })

  it('asks again for each change, with what was changed', async () => {
    const { host } = await open()
    await userEvent.click(screen.getByRole('radio', { name: 'Uniform' }))
    await userEvent.click(screen.getByRole('radio', { name: '30:1' }))
    await userEvent.click(screen.getByRole('radio', { name: 'Keep all' }))
    await waitFor(() => expect(previews(host).at(-1)?.settings).toMatchObject({ mode: 'uniform', compaction_ratio: 30, keepit_mode: 'preserve-all' }))
  })

  it('makes custom tiers of a ready set by the arrow keys, and joins them by Delete', async () => {
    const { host } = await open()
    const border = await screen.findByRole('slider', { name: 'Border between tier 1 and 2' })
    border.focus()
    await userEvent.keyboard('{ArrowRight}')
    await waitFor(() => expect(previews(host).at(-1)?.settings).toMatchObject({ tier_preset: 'custom' }))
    expect(previews(host).at(-1)?.settings.custom_tiers?.map((tier) => tier.end_percent)).toEqual([26, 50, 75, 90, 100])
    await userEvent.keyboard('{Delete}')
    await waitFor(() => expect(previews(host).at(-1)?.settings.custom_tiers?.map((tier) => tier.end_percent)).toEqual([50, 75, 90, 100]))
  })

  it('shows why it cannot be done in place of the result, with the fix', async () => {
    const { host } = await open({
      compression_preview: ({ settings }) => {
        if (settings.keepit_mode === 'preserve-all') throw { kind: 'over_budget', message: '2 keepits need 9,000 tokens', hint: 'use 8:1' } as unknown as Error
        return aPreview()
      },
    })
    await userEvent.click(screen.getByRole('radio', { name: 'Keep all' }))
    expect(await screen.findByText('2 keepits need 9,000 tokens.')).toBeVisible()
    expect(screen.getByTestId('compress-create')).toBeDisabled()
    await userEvent.click(screen.getByRole('button', { name: 'Let keepits decay' }))
    expect(await screen.findByTestId('compress-result')).toBeVisible()
    expect(previews(host).at(-1)?.settings.keepit_mode).toBe('decay')
  })

  it('runs as a job that shows how far it is, and then the version beside its original', async () => {
    const { host, told } = await open({ job_start: () => ({ job_id: 'j1' }) })
    await screen.findByTestId('compress-result')
    await userEvent.click(screen.getByTestId('compress-create'))
    await waitFor(() => expect(host.calls.at(-1)).toMatchObject({ command: 'job_start', request: { command: 'compression_create', request: { session: aSession().session_id } } }))
    await Promise.resolve()
    host.tell({ event: 'job_progress', job_id: 'j1', progress: { done: 300, total: 450, unit: 'messages', stage: 'selecting sentences' } })
    const progress = await screen.findByTestId('compress-progress')
    expect(progress).toHaveTextContent('67 %')
    expect(progress).toHaveTextContent('300 of 450 messages')
    host.tell({ event: 'job_done', job_id: 'j1', response: { ...aVersion({ version_id: 'v003', output_tokens: 6758 }), preview: aPreview() } })
    expect(await screen.findByText('v003 made: 100,234 → 6,758 tokens')).toBeVisible()
    await userEvent.click(screen.getByRole('button', { name: 'Open v003' }))
    expect(told['openVersion']).toEqual([['v003']])
  })

  it('can be cancelled, and is back at its settings', async () => {
    const { host } = await open({ job_start: () => ({ job_id: 'j1' }) })
    host.answers.job_cancel = ({ job_id }) => {
      host.tell({ event: 'job_failed', job_id, error: { kind: 'cancelled', message: 'cancelled' } })
      return { was_running: true }
    }
    await screen.findByTestId('compress-result')
    await userEvent.click(screen.getByTestId('compress-create'))
    await userEvent.click(await screen.findByTestId('compress-cancel'))
    expect(await screen.findByTestId('compress-dialog')).toBeVisible()
    expect(screen.queryByRole('alert'), 'what the user wanted is no failure').toBeNull()
  })

  it('goes on in the background and tells when it is done', async () => {
    const { host } = await open({ job_start: () => ({ job_id: 'j1' }) })
    await screen.findByTestId('compress-result')
    await userEvent.click(screen.getByTestId('compress-create'))
    await userEvent.click(await screen.findByRole('button', { name: 'Run in background' }))
    host.tell({ event: 'job_done', job_id: 'j1', response: { ...aVersion({ version_id: 'v002' }), preview: aPreview() } })
    await waitFor(() => expect(toast.value).toMatchObject({ title: 'v002 made', action: { label: 'Open' } }))
  })

  it('says what an engine sends and costs before anything is sent, and sends nothing for that', async () => {
    const { host } = await open({ engine_list: () => [aBuiltIn, anthropic], compression_estimate: () => anEstimate })
    await userEvent.click(await screen.findByTestId('engine-anthropic'))
    expect(await screen.findByText('Sends 41k tokens to Anthropic, 14 calls, about $0.21. 3 secrets are redacted.')).toBeVisible()
    expect(previews(host).at(-1)?.settings).toMatchObject({ engine: 'anthropic', model: null })
    expect(host.calls.some((call) => call.command === 'job_start'), 'asking what it costs is not doing it').toBe(false)
  })

  it('cannot be begun over the cap, nor without a key, and says why', async () => {
    await open({ engine_list: () => [aBuiltIn, anthropic, { ...anthropic, engine: 'openai', label: 'OpenAI', ready: false, has_key: false, problem: 'no key' }], compression_estimate: () => ({ ...anEstimate, cost: 3.1, over_cap: true }) })
    await userEvent.click(await screen.findByTestId('engine-anthropic'))
    expect(await screen.findByText(/about \$3.10; the most that a compression may cost is \$1.00/)).toBeVisible()
    expect(screen.getByTestId('compress-create')).toBeDisabled()
    await userEvent.click(screen.getByTestId('engine-openai'))
    expect(await screen.findByLabelText('Key of OpenAI')).toHaveAttribute('type', 'password')
    expect(screen.getByTestId('compress-create')).toBeDisabled()
  })

  it('keeps a key where it is never shown again', async () => {
    const bare = { ...anthropic, ready: false, has_key: false, problem: 'no key' }
    const { host } = await open({ engine_list: () => [aBuiltIn, bare], engine_key_set: () => [aBuiltIn, anthropic], compression_estimate: () => anEstimate })
    await userEvent.click(await screen.findByTestId('engine-anthropic'))
    await userEvent.type(await screen.findByLabelText('Key of Anthropic'), 'sk-1{Enter}')
    await waitFor(() => expect(host.calls.find((call) => call.command === 'engine_key_set')?.request).toEqual({ engine: 'anthropic', key: 'sk-1' }))
    await waitFor(() => expect(screen.queryByLabelText('Key of Anthropic')).toBeNull())
  })

  it('extends a version that is behind, unless all is wanted anew', async () => {
    const part = { first: 0, last: 449, original_tokens: 1, output_tokens: 1, output_messages: 1, made_in: 'v002', settings: null }
    const { host } = await open({ compression_preview: ({ full }) => (full ? aPreview() : aPreview({ lineage: 'extended', source_version: 'v002', parts: [part, { ...part, first: 450, last: 761, made_in: 'new' }] })) })
    expect(await screen.findByTestId('compress-delta')).toHaveTextContent('Extends v002 by 312 new messages')
    expect(screen.getByTestId('compress-create')).toHaveTextContent('Extend v002')
    await userEvent.click(screen.getByRole('button', { name: 'Compress all anew' }))
    await waitFor(() => expect(previews(host).at(-1)?.full).toBe(true))
    await waitFor(() => expect(screen.getByTestId('compress-create')).toHaveTextContent('Create version'))
    await userEvent.click(screen.getByRole('button', { name: 'Extend v002 by 312 new messages' }))
    await waitFor(() => expect(previews(host).at(-1)?.full).toBe(false))
  })

  it('says after a stop that what was answered is kept, and goes on from there', async () => {
    const { host } = await open({ engine_list: () => [aBuiltIn, anthropic], compression_estimate: () => anEstimate, job_start: () => ({ job_id: 'j1' }) })
    host.answers.job_cancel = ({ job_id }) => {
      host.tell({ event: 'job_failed', job_id, error: { kind: 'cancelled', message: 'cancelled' } })
      return { was_running: true }
    }
    await userEvent.click(await screen.findByTestId('engine-anthropic'))
    await screen.findByTestId('compress-result')
    await userEvent.click(screen.getByTestId('compress-create'))
    await userEvent.click(await screen.findByTestId('compress-cancel'))
    expect(await screen.findByText(/continuing asks only for the rest/)).toBeVisible()
    expect(screen.getByTestId('compress-create')).toHaveTextContent('Continue')
  })
})
