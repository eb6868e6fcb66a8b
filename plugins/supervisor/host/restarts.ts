import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'
import { createRestartPolicy, type RestartDecision } from './restart-policy.ts'
import type { ServerRuns } from './server-runs.ts'
import type { SetStatus } from './status-writer.ts'
import type { Times } from './times.ts'
import type { LocalServer, StartMode } from './workload-instance.ts'

/** Starts the server of one workload again, as the restart policy says. */
export interface Restarts {
  /** Resolves when the server runs, was given up, or the lifecycle has ended. */
  restart(cause: { reason: string; ranMs: number }): Promise<void>
  /** Resolves after the first attempt; further attempts follow in the background. */
  resume(cause: { reason: string; mode: StartMode }): Promise<void>
  /** Ends the wait before the next attempt. */
  wake(): void
  /** Ends the wait when the runtime itself has started the instance again. */
  wakeIfRunning(): Promise<void>
}

export interface RestartsOptions {
  readonly config: RunConfig
  readonly local: LocalServer | undefined
  readonly proxy: WorkloadProxy
  readonly runs: ServerRuns
  readonly clock: Clock
  readonly times: Times
  readonly log: Log
  /** Aborts when the lifecycle ends. */
  readonly signal: AbortSignal
  readonly enqueue: (work: () => Promise<void>) => Promise<void>
  /** Starts the server once; called in the workload's turn. */
  readonly start: (mode: StartMode) => Promise<void>
  readonly setLater: SetStatus
  readonly giveUp: (reason: string) => Promise<void>
}

export function createRestarts(options: RestartsOptions): Restarts {
  const { config, local, proxy, runs, clock, times, log, signal, enqueue, start, setLater, giveUp } = options
  const policy = createRestartPolicy(times)
  let waking = new AbortController()

  /** True when no further attempt is needed. */
  async function tryOnce(): Promise<boolean> {
    const mode = policy.attempt()
    try {
      await enqueue(() => (signal.aborted ? Promise.resolve() : start(mode)))
      return true
    } catch (error) {
      if (signal.aborted) return true
      runs.detach()
      const problem = await findRuntimeProblem(local?.runtime, signal)
      const ended = isFailure(error, 'instance_ended') ? runs.howEnded() : undefined
      const reason = problem ?? ended ?? messageOf(error)
      const isFinal = isFailure(error, 'mount_through_link')
      policy.failed({ reason, isRuntimeAway: problem !== undefined, isFinal })
      proxy.disconnect(reason)
      log.warn(`The server could not be started: ${reason}`)
      return false
    }
  }

  /** Such as `restarting (4 times, exit code 1): TOKEN is not set`. */
  async function describe(decision: Exclude<RestartDecision, { giveUp: string }>): Promise<string> {
    if (decision.status === 'unhealthy') return decision.reason
    const { attempts, reason } = decision
    const times = attempts > 1 ? `${attempts} times, ` : attempts ? 'once, ' : ''
    const last = (await runs.lastLines()).at(-1)
    return `restarting (${times}${reason})${last === undefined ? '' : `: ${last}`}`
  }

  async function retry(): Promise<void> {
    while (!signal.aborted) {
      const decision = policy.next()
      if ('giveUp' in decision) return giveUp(decision.giveUp)
      await setLater(decision.status, { context: await describe(decision) })
      waking = new AbortController()
      await clock.delay(decision.waitMs, AbortSignal.any([waking.signal, signal])).catch(() => undefined)
      if (signal.aborted || (await tryOnce())) return
    }
  }

  return {
    restart({ reason, ranMs }) {
      policy.begin({ reason, mode: 'resume', ranMs })
      return retry()
    },
    async resume({ reason, mode }) {
      policy.begin({ reason, mode, ranMs: 0 })
      if (!(await tryOnce())) void retry()
    },
    wake: () => waking.abort(),
    async wakeIfRunning() {
      const current = waking
      if (config.transport === 'stdio' || current.signal.aborted) return
      if (await runs.isRunning().catch(() => false)) current.abort()
    },
  }
}

/** Why the runtime does not respond; undefined when it does. */
async function findRuntimeProblem(
  runtime: Runtime | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const probe = await runtime?.probe(signal)
    return probe && !probe.ok ? probe.problem : undefined
  } catch (error) {
    return messageOf(error)
  }
}
