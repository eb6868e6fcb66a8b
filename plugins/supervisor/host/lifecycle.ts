import type { Candidate, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { Log } from '../../../src/log.ts'
import { createHealthWatch } from './health-watch.ts'
import { reportStart } from './readiness.ts'
import { createRestarts } from './restarts.ts'
import { createRuntimeAvailability } from './runtime-availability.ts'
import { createServerRuns, type ServerRun, type ServerRunsOptions } from './server-runs.ts'
import { type CandidateServer, startCandidate } from './start-candidate.ts'
import { startServer } from './start-server.ts'
import { type SetStatus, setStatusInTurn } from './status-writer.ts'
import type { StartMode } from './workload-instance.ts'

/** `stop`: the workload is stopped. `handover`: another process goes on with it. */
type EndReason = 'stop' | 'handover'

/** One workload while it should run: starts its server, notices when it exits, starts it again. */
export interface Lifecycle {
  /** The server runs, as far as we know. */
  isUp(): boolean
  endedBy(): EndReason | undefined
  /**
   * Starts the server for the first time, in the workload's turn. Fails when the server does not start, or is not what
   * the run config expects.
   */
  start(): Promise<void>
  /** Starts the server without routing requests to it, and checks it. It counts as up once it is promoted. */
  startCandidate(timeoutMs: number): Promise<CandidateServer>
  /** Starts the server as after a crash. Resolves after the first attempt; others follow in the background. */
  resume(mode: StartMode): Promise<void>
  /** Compares the instance with what was started, after an event of its runtime. */
  check(): void
  /** Writes the status anew after what the proxy says of its credentials, its middlewares or the server has changed. */
  proxyChanged(): void
  runtimeUnavailable(problem: string): void
  runtimeAvailable(): Promise<void>
  /** Ends all restarts. The server may finish its requests: a newer one has replaced it. */
  retire(): void
  /** Ends all restarts and closes the streams to the server. The instance itself is not touched. */
  end(reason: EndReason): void
}

export interface LifecycleOptions extends Omit<ServerRunsOptions, 'signal'> {
  readonly proxy: WorkloadProxy
  readonly log: Log
  readonly setStatus: SetStatus
  /** Runs work in its turn with the other operations on this workload. */
  readonly enqueue: (work: () => Promise<void>) => Promise<void>
  /** The server crashed too often and the lifecycle has ended. Called in the workload's turn. */
  readonly onGivenUp: (context: string) => Promise<void>
}

/** It is long because its parts share whether the server is up, and since when. */
export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { proxy, clock, log, enqueue, onGivenUp } = options
  const ending = new AbortController()
  const { signal } = ending
  const runs = createServerRuns({ ...options, signal })
  const setLater = setStatusInTurn({ ...options, signal })
  const restarts = createRestarts({
    ...options,
    ...{ runs, signal, setLater, giveUp },
    start: mode => start(mode, { isFirst: false }),
  })
  let endedBy: EndReason | undefined
  let up = false
  let upSince = clock.now()
  /** Checked, and not promoted yet. */
  let candidate: Candidate | undefined

  const isUp = () => up && !signal.aborted
  const startedAt = () => runs.startedAt() ?? new Date(upSince)
  const health = createHealthWatch({ ...options, startedAt, setLater, signal })
  const availability = createRuntimeAvailability({ isUp, startedAt, check: runs.check, setLater })

  async function start(mode: StartMode, { isFirst }: { isFirst: boolean }): Promise<void> {
    const { run, problem } = await startServer({ ...options, runs, mode, isFirst })
    if (isFirst && (problem === undefined || run.backend.kind === 'stdio'))
      await runs.unlessExited(run, signal => proxy.verify({ signal }))
    markUp()
    await reportStart(run, { ...options, problem, startedAt, setLater, signal })
    watch(run)
  }

  function markUp(): void {
    up = true
    upSince = clock.now()
  }

  /** Restarts the server when it exits, and says when it does not respond. */
  function watch(run: ServerRun): void {
    void health.watch(run)
    restartAfter(run)
  }

  function restartAfter(run: ServerRun): void {
    void run.exited.then(reason => {
      if (!run.isCurrent() || signal.aborted) return undefined
      up = false
      runs.detach()
      proxy.disconnect(reason)
      log.warn(`The server exited: ${reason}`)
      return restarts.restart({ reason, ranMs: clock.now() - upSince })
    })
  }

  async function giveUp(reason: string): Promise<void> {
    log.error(reason)
    const context = [reason, ...(await runs.lastLines())].join('\n')
    await enqueue(async () => {
      if (signal.aborted) return
      end('stop')
      await onGivenUp(context)
    })
  }

  function promote(run: ServerRun, checked: Candidate, patience: { graceMs: number; signal: AbortSignal }) {
    candidate = undefined
    markUp()
    watch(run)
    log.info('The server has replaced the one before.')
    return { drained: checked.promote(patience) }
  }

  function endRestarts(reason: EndReason): void {
    endedBy ??= reason
    up = false
    ending.abort()
  }

  function end(reason: EndReason): void {
    candidate?.discard()
    endRestarts(reason)
    runs.detach()
  }

  return {
    isUp,
    endedBy: () => endedBy,
    start: () => start('create', { isFirst: true }),
    async startCandidate(timeoutMs) {
      const { run, checked, assertUp } = await startCandidate({ runs, proxy, timeoutMs })
      if (signal.aborted) checked.discard()
      runs.assertNotCancelled()
      candidate = checked
      return { assertUp, promote: patience => promote(run, checked, patience) }
    },
    resume: mode => restarts.resume({ reason: 'The supervisor takes it over.', mode }),
    check() {
      void runs.check()
      if (!up) void restarts.wakeIfRunning()
    },
    proxyChanged() {
      if (isUp()) void health.report()
    },
    runtimeUnavailable: problem => availability.unavailable(problem),
    runtimeAvailable() {
      restarts.wake()
      return availability.available()
    },
    retire: () => endRestarts('stop'),
    end,
  }
}
