//! A host for component tests: answers commands from typed functions, and lets the test tell events.

import type { CommandName, RequestOf, ResponseOf } from '../api/call'
import { resetEvents } from '../api/events'
import type { Event } from '../api/generated/Event'
import { useHost } from '../api/host'
import type { FileDrop, Host, ShellOutcome, ShellRequest } from '../host/types'

export type Answers = { [Name in CommandName]?: (request: RequestOf<Name>) => ResponseOf<Name> | Promise<ResponseOf<Name>> }

export interface TestHost {
  answers: Answers
  calls: { command: string; request: unknown }[]
  shellCalls: ShellRequest[]
  tell: (event: Event) => void
  drop: (drop: FileDrop) => void
  openPaths: (paths: string[]) => void
}

/** Puts a host in place that knows only what the test tells it; an unknown command fails the call. */
export function useTestHost(answers: Answers = {}, shellOutcome: ShellOutcome = { paths: [] }): TestHost {
  const engine = new Set<(event: Event) => void>()
  const drops = new Set<(drop: FileDrop) => void>()
  const opens = new Set<(paths: string[]) => void>()
  const test: TestHost = {
    answers,
    calls: [],
    shellCalls: [],
    tell: (event) => engine.forEach((listener) => listener(event)),
    drop: (drop) => drops.forEach((listener) => listener(drop)),
    openPaths: (paths) => opens.forEach((listener) => listener(paths)),
  }
  function listen<Listener>(listeners: Set<Listener>): (listener: Listener) => Promise<() => void> {
    return (listener) => {
      listeners.add(listener)
      return Promise.resolve(() => listeners.delete(listener))
    }
  }
  const host: Host = {
    async rpc(command, request) {
      test.calls.push({ command, request })
      const answer = test.answers[command as CommandName] as ((request: unknown) => unknown) | undefined
      if (answer === undefined) throw { kind: 'internal', message: `the test has no answer to ${command}` } as unknown as Error
      return await answer(request)
    },
    shell(request) {
      test.shellCalls.push(request)
      return Promise.resolve(shellOutcome)
    },
    onEngineEvent: listen(engine),
    onFileDrop: listen(drops),
    onOpenPaths: listen(opens),
  }
  resetEvents()
  useHost(host)
  return test
}
