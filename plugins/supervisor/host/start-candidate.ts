import type { Candidate, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import type { ServerRun, ServerRuns } from './server-runs.ts'

/** A newer server that has passed the check, and does not get requests yet. */
export interface CandidateServer {
  /** Fails with `instance_ended` when the server has exited since the check. */
  assertUp(): Promise<void>
  /** Routes requests to it, in the workload's turn; `drained` resolves when the old server may be stopped. */
  promote(options: { graceMs: number; signal: AbortSignal }): { readonly drained: Promise<void> }
}

/** Starts a server without routing requests to it, and checks it. Fails when the check fails. */
export async function startCandidate(options: {
  runs: ServerRuns
  proxy: WorkloadProxy
  /** How long the check may take, in milliseconds. */
  timeoutMs: number
}): Promise<{ readonly run: ServerRun; readonly checked: Candidate; assertUp(): Promise<void> }> {
  const { runs, proxy, timeoutMs } = options
  const run = await runs.start('create')
  const check = (signal: AbortSignal) => proxy.checkCandidate(run.backend, { timeoutMs, signal })
  const checked = await runs.unlessExited(run, check).catch(async error => {
    runs.assertNotCancelled()
    if (!isFailure(error, 'candidate_failed')) throw error
    throw failures.candidate_rejected({ problem: error.message, lines: await runs.lastLines() })
  })
  let end: string | undefined
  void run.exited.then(how => {
    end = how
  })
  return {
    run,
    checked,
    async assertUp() {
      await runs.check()
      runs.assertNotCancelled()
      if (end !== undefined) throw await runs.exitedEarly(end)
    },
  }
}
