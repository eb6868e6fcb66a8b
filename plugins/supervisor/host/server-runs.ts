import type { Backend } from '../../../src/contracts/pipeline.ts'
import { type Failure, isFailure, messageOf } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import type { Clock } from './clock.ts'
import { missingVariables } from './missing-variables.ts'
import { readLastLines } from './read-last-lines.ts'
import type { Times } from './times.ts'
import { createWorkloadInstance, type StartMode, type WorkloadInstanceOptions } from './workload-instance.ts'

/** One run of a server, from its start until it exits. */
export interface ServerRun {
  readonly backend: Backend
  /** Resolves with the reason when the run has ended. */
  readonly exited: Promise<string>
  /** False once the server was started again. */
  isCurrent(): boolean
}

/** Starts the server of one workload, as often as needed, and notices when it exits. */
export interface ServerRuns {
  /** Fails with `instance_ended`, which has the last log lines, or with `start_cancelled` after the signal. */
  start(mode: StartMode): Promise<ServerRun>
  /** Does the work. Fails with `instance_ended` when the server exits first. */
  unlessExited<T>(run: ServerRun, work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Compares the instance with the one that was started; a change ends the run. True when nothing changed. */
  check(): Promise<boolean>
  /** Whether the runtime says that the instance runs. */
  isRunning(): Promise<boolean>
  /** When the current instance started, if the runtime knows. */
  startedAt(): Date | undefined
  /** Closes the streams to the server; nothing is stopped. */
  detach(): void
  /** How a server that exited before it was ready did so, e.g. "exit code 1". */
  howEnded(): string | undefined
  /** The last log lines of the instance, without secrets. */
  lastLines(): Promise<string[]>
  exitedEarly(how: string): Promise<Failure>
  assertNotCancelled(): void
}

export interface ServerRunsOptions extends WorkloadInstanceOptions {
  readonly clock: Clock
  readonly times: Times
}

export function createServerRuns(options: ServerRunsOptions): ServerRuns {
  const { config, local, clock, times, signal } = options
  const instance = createWorkloadInstance(options)
  let exit = Promise.withResolvers<string>()
  let ended: string | undefined

  function assertNotCancelled(): void {
    if (signal.aborted) throw failures.start_cancelled({ name: config.name })
  }

  const lastLines = async () =>
    local ? await readLastLines(local.runtime, local.spec.name, local.secrets) : []

  async function exitedEarly(how: string): Promise<Failure> {
    ended = how
    const lines = await lastLines()
    const missing = missingVariables(lines, config)
    const mayBeStdio = config.transport !== 'stdio' && lines.length === 0
    return failures.instance_ended({ name: config.name, how, lines, missing, mayBeStdio })
  }

  async function explain(error: unknown): Promise<never> {
    assertNotCancelled()
    throw isFailure(error) ? error : await exitedEarly(messageOf(error))
  }

  async function check(): Promise<boolean> {
    const before = exit
    const change = await instance.findChange()
    if (before !== exit || signal.aborted) return false
    if (change !== undefined) before.resolve(change)
    return change === undefined
  }

  /** An instance may exit before the watch on its runtime has begun. */
  async function pollUntil(done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      await check()
      await clock.delay(times.poll, done).catch(() => undefined)
    }
  }

  return {
    async start(mode) {
      assertNotCancelled()
      const own = Promise.withResolvers<string>()
      exit = own
      instance.detach()
      const backend = await instance.start(mode, own.resolve).catch(explain)
      assertNotCancelled()
      return { backend, exited: own.promise, isCurrent: () => exit === own }
    },
    async unlessExited({ backend, exited }, work) {
      const done = new AbortController()
      const either = AbortSignal.any([done.signal, signal])
      const working = work(either).then(
        value => ({ value }),
        error => ({ error }),
      )
      if (backend.kind === 'http') void pollUntil(either)
      try {
        const outcome = await Promise.race([working, exited.then(how => ({ how }))])
        assertNotCancelled()
        if ('how' in outcome) throw await exitedEarly(outcome.how)
        if ('error' in outcome) throw outcome.error
        return outcome.value
      } finally {
        done.abort()
      }
    },
    check,
    isRunning: () => instance.isRunning(),
    startedAt: () => instance.startedAt(),
    detach: () => instance.detach(),
    howEnded: () => ended,
    lastLines,
    exitedEarly,
    assertNotCancelled,
  }
}
