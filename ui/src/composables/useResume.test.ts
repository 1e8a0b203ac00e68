import { describe, expect, it } from 'vitest'
import { resetEvents } from '../api/events'
import { useHost } from '../api/host'
import { useTestHost } from '../testing/host'
import { useResume } from './useResume'

const resumed = { session_id: '7c41e0b2-0000-4000-8000-00000000000a', file: '/c/x.jsonl', cwd: '/p', command: 'claude --resume 7c41e0b2' }

function withTerminal(opens: () => Promise<{ paths: string[] }>, folder: string[] = []): { requests: unknown[] } {
  const host = useTestHost({ resume_create: ({ cwd }) => {
    if (cwd === null) throw { kind: 'not_found', message: 'there is no folder `/gone`' } as unknown as Error
    return { ...resumed, cwd: cwd ?? '' }
  } })
  const requests: unknown[] = []
  useHost({
    rpc: async (command, request) => {
      const answer = host.answers[command as 'resume_create']
      return await Promise.resolve(answer?.(request as { name: string; cwd: string | null }))
    },
    shell: (request) => {
      requests.push(request)
      return request.action === 'pick_paths' ? Promise.resolve({ paths: folder }) : opens()
    },
    onEngineEvent: () => Promise.resolve(() => undefined),
    onFileDrop: () => Promise.resolve(() => undefined),
    onOpenPaths: () => Promise.resolve(() => undefined),
  })
  resetEvents()
  return { requests }
}

describe('continuing in Claude Code', () => {
  it('opens a terminal in the folder that the session was written for', async () => {
    const { requests } = withTerminal(() => Promise.resolve({ paths: [] }))
    const state = useResume()
    await state.start('feature-x', '/p')
    expect(state.stage.value).toBe('opened')
    expect(requests).toEqual([{ action: 'continue_in_terminal', session_id: resumed.session_id, cwd: '/p' }])
  })

  it('leaves the written session and its command at hand when there is no terminal', async () => {
    withTerminal(() => Promise.reject({ kind: 'not_found', message: 'there is no terminal program on this machine' } as unknown as Error))
    const state = useResume()
    await state.start('feature-x', '/p')
    expect(state.stage.value).toBe('by-hand')
    expect(state.resumed.value?.command).toBe(resumed.command)
    expect(state.error.value?.message).toContain('no terminal')
  })

  it('lets another folder be chosen when that of the project is gone', async () => {
    withTerminal(() => Promise.resolve({ paths: [] }), ['/elsewhere'])
    const state = useResume()
    await state.start('feature-x')
    expect(state.stage.value).toBe('failed')
    await state.chooseFolder()
    expect(state.stage.value).toBe('opened')
    expect(state.resumed.value?.cwd).toBe('/elsewhere')
  })
})
