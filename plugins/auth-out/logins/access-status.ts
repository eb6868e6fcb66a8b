import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import type { Log } from '../../../src/log.ts'

/** Why the login of a workload does not work: in its log once, and in its status. */
export interface AccessStatus {
  readonly problem: AccessProblem | undefined
  /** Returns what it was given. Changes nothing after `close`. */
  set(found: AccessProblem | undefined): AccessProblem | undefined
  close(): void
}

export function createAccessStatus({
  log,
  setAccess,
}: {
  log: Log
  setAccess: (problem: AccessProblem | undefined) => void
}): AccessStatus {
  let problem: AccessProblem | undefined
  let closed = false
  return {
    get problem() {
      return problem
    },
    set(found) {
      if (closed) return found
      if (found && found.reason !== problem?.reason) log.warn(found.reason)
      if (!found && problem) log.info('The login to the remote server works again.')
      problem = found
      setAccess(found)
      return found
    },
    close() {
      closed = true
    },
  }
}
