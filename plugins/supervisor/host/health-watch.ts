import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { Clock } from './clock.ts'
import { reportAccess } from './readiness.ts'
import type { ServerRun } from './server-runs.ts'
import type { SetStatus } from './status-writer.ts'
import type { Times } from './times.ts'

/** A busy server may miss one of the questions whether it responds. */
const MOST_MISSED = 1
/** It is asked again so many times sooner then. */
const AGAIN = 10

/** Notices when an HTTP server that runs does not respond any more. */
export interface HealthWatch {
  /** Asks until the run is over. The streams of a stdio server tell by themselves. */
  watch(run: ServerRun): Promise<void>
  /** Writes the status of a server that runs: what it lacks, or what is wrong with its credentials. */
  report(): Promise<void>
}

export function createHealthWatch(options: {
  proxy: WorkloadProxy
  clock: Clock
  times: Times
  setLater: SetStatus
  startedAt: () => Date
  /** Aborts when the lifecycle ends. */
  signal: AbortSignal
}): HealthWatch {
  const { proxy, clock, times, setLater, startedAt, signal } = options
  let problem: string | undefined

  const report = () =>
    problem === undefined
      ? reportAccess(proxy.access, { setStatus: setLater, startedAt })
      : setLater('unhealthy', { context: problem, startedAt: startedAt() })

  return {
    report,
    async watch(run) {
      problem = undefined
      let missed = 0
      const isOver = () => run.backend.kind === 'stdio' || !run.isCurrent() || signal.aborted
      while (!isOver()) {
        await clock.delay(missed ? times.health / AGAIN : times.health, signal).catch(() => undefined)
        if (isOver()) return
        const found = await proxy.findProblem()
        if (isOver()) return
        missed = found === undefined ? 0 : missed + 1
        if (missed === MOST_MISSED || found === problem) continue
        problem = found
        await report()
      }
    },
  }
}
