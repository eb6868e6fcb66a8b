import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import { isFailure } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'
import { waitUntilResponding } from './readiness.ts'
import type { ServerRun, ServerRuns } from './server-runs.ts'
import type { Times } from './times.ts'
import type { StartMode } from './workload-instance.ts'

interface StartOptions {
  readonly runs: ServerRuns
  readonly proxy: WorkloadProxy
  readonly clock: Clock
  readonly times: Times
  readonly log: Log
  readonly mode: StartMode
  /** The first start, for which somebody waits; not one after a crash or by the next supervisor. */
  readonly isFirst: boolean
}

/** A run of a server that is up. */
interface StartedServer {
  readonly run: ServerRun
  /** Why it has not responded within the time it has, for people; undefined when it has. */
  readonly problem: string | undefined
}

/**
 * Starts a server behind its proxy and waits until it is up. Fails with `instance_ended` when it exits before.
 *
 * Some stdio servers exit when they get a `ping` before `initialize`, as those with the Rust and Python SDKs of early
 * 2025 do. So a server that exits before it has responded is started once more without one.
 */
export async function startServer(options: StartOptions): Promise<StartedServer> {
  const { runs, proxy, clock, times, log, isFirst } = options
  const began = clock.now()
  const run = await connectRun(options)
  const wait = (of: ServerRun, given: { timeoutMs: number; ping: boolean }) =>
    waitUntilResponding(of, runs, { proxy, ...given })
  if (run.backend.kind === 'http') {
    const { remote } = run.backend
    if (remote && !isFirst) return { run, problem: await proxy.findProblem() }
    const timeoutMs = remote ? times.remote : times.ready
    return { run, problem: await wait(run, { timeoutMs, ping: false }) }
  }
  if (!isFirst) {
    await wait(run, { timeoutMs: times.settle, ping: false })
    return { run, problem: undefined }
  }
  try {
    return { run, problem: await wait(run, { timeoutMs: times.answer, ping: true }) }
  } catch (error) {
    if (!isFailure(error, 'instance_ended') || error.hint !== undefined) throw error // the hint knows a cause
    log.info(`${error.message} It starts again and is sent no ping.`)
  }
  runs.detach()
  proxy.disconnect('it starts again')
  const again = await connectRun(options)
  await wait(again, { timeoutMs: clock.now() - began + times.settle, ping: false })
  return { run: again, problem: undefined }
}

async function connectRun({ runs, proxy, mode }: StartOptions): Promise<ServerRun> {
  const run = await runs.start(mode)
  await proxy.connect(run.backend)
  return run
}
