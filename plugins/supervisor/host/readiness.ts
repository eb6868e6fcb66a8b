import type { AccessProblem, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'
import type { ServerRun, ServerRuns } from './server-runs.ts'
import type { SetStatus } from './status-writer.ts'
import type { Times } from './times.ts'

interface ReadinessOptions {
  readonly proxy: WorkloadProxy
  readonly clock: Clock
  readonly times: Times
}

/**
 * Waits until the server responds. Returns why it has not within the time, for people, or undefined when it has. Fails
 * when the server exits meanwhile.
 */
export const waitUntilResponding = (
  run: ServerRun,
  runs: ServerRuns,
  { proxy, ...given }: { proxy: WorkloadProxy; timeoutMs: number; ping: boolean },
): Promise<string | undefined> =>
  runs.unlessExited(run, signal =>
    proxy.ready({ ...given, signal }).then(
      () => undefined,
      // Nobody waits for what is wrong with it any more where the start was cancelled.
      async error => (signal.aborted ? undefined : await proxy.findProblem()) ?? messageOf(error),
    ),
  )

/** Writes the status after a start; that of a slow server is written again when it responds. */
export async function reportStart(
  run: ServerRun,
  options: ReadinessOptions & {
    log: Log
    setStatus: SetStatus
    /** Writes the status in the workload's turn. */
    setLater: SetStatus
    startedAt: () => Date
    signal: AbortSignal
    /** Why the server has not responded; undefined when it has. */
    problem: string | undefined
  },
): Promise<void> {
  const { times, log, setStatus, setLater, startedAt, problem } = options
  log.info(problem === undefined ? 'The server is up.' : 'The server runs, but does not respond yet.')
  if (problem === undefined) return reportAccess(options.proxy.access, { setStatus, startedAt })
  const isStdio = run.backend.kind === 'stdio'
  const context = isStdio ? `The server has not responded within ${times.answer / 1000} seconds.` : problem
  // Some stdio servers never respond to a `ping` before `initialize`.
  await setStatus(isStdio ? 'running' : 'unhealthy', { startedAt: startedAt(), context })
  void pollUntilResponding(run, options).then(now =>
    now ? setLater('running', { startedAt: startedAt() }) : undefined,
  )
}

/** Writes that the server runs, or why its credentials do not open it. */
export const reportAccess = (
  problem: AccessProblem | undefined,
  { setStatus, startedAt }: { setStatus: SetStatus; startedAt: () => Date },
): Promise<void> =>
  setStatus(problem?.status ?? 'running', {
    startedAt: startedAt(),
    ...(problem ? { context: problem.reason } : {}),
  })

/** Asks a slow server until it responds. False when its run, or the lifecycle, has ended before. */
async function pollUntilResponding(
  run: ServerRun,
  { proxy, clock, times, signal }: ReadinessOptions & { signal: AbortSignal },
): Promise<boolean> {
  const isRemote = run.backend.kind === 'http' && run.backend.remote
  const isOver = () => !run.isCurrent() || signal.aborted
  while (!isOver()) {
    try {
      // A remote server is of somebody else: it is asked seldom.
      if (isRemote) await clock.delay(times.health, signal)
      if (isRemote && (await proxy.findProblem()) !== undefined) continue
      await proxy.ready({ timeoutMs: isRemote ? times.remote : times.ready, signal })
      return !isOver()
    } catch {
      await clock.delay(times.poll, signal).catch(() => undefined)
    }
  }
  return false
}
