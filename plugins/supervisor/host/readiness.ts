import type { AccessProblem, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
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

/** True when the server responds, false when it takes too long. Fails when the server exits meanwhile. */
export async function waitUntilResponding(
  run: ServerRun,
  runs: ServerRuns,
  { proxy, ...given }: { proxy: WorkloadProxy; timeoutMs: number; ping: boolean },
): Promise<boolean> {
  const { backend } = run
  if (backend.kind === 'http' && backend.remote) return true
  return runs.unlessExited(run, signal =>
    proxy.ready({ ...given, signal }).then(
      () => true,
      () => false,
    ),
  )
}

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
    responds: boolean
  },
): Promise<void> {
  const { times, log, setStatus, setLater, startedAt, responds } = options
  log.info(responds ? 'The server is up.' : 'The server runs, but does not respond yet.')
  if (responds) return reportAccess(options.proxy.access, { setStatus, startedAt })
  const isStdio = run.backend.kind === 'stdio'
  const seconds = (isStdio ? times.answer : times.ready) / 1000
  const context = `The server has not responded within ${seconds} seconds.`
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
  while (run.isCurrent() && !signal.aborted) {
    try {
      await proxy.ready({ timeoutMs: times.ready, signal })
      return run.isCurrent()
    } catch {
      await clock.delay(times.poll, signal).catch(() => undefined)
    }
  }
  return false
}
