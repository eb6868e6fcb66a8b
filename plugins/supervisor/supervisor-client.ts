import { setTimeout as delay } from 'node:timers/promises'
import type { Supervisor } from '../../src/contracts/workload.ts'
import { isFailure } from '../../src/errors.ts'
import type { Paths } from '../../src/paths.ts'
import { decodeFailure, supervisorPaths, type Verb } from './control-protocol.ts'
import { requestSupervisor, Unreachable } from './control-request.ts'
import { failures } from './failures.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import type { Launch } from './launch-supervisor.ts'
import { runForeground } from './run-foreground.ts'
import { createSupervisorStarter } from './start-supervisor.ts'

/** How often a request is sent when the supervisor ends meanwhile. */
const TRIES = 3

/** Calls the supervisor from another process. `launch` says how a supervisor is started. */
export function createSupervisorClient(options: {
  paths: Paths
  /** Build of this program; a supervisor of another build is replaced. */
  build: string
  launch: () => Launch
  /** Makes a host for `foreground`. */
  host: () => Promise<WorkloadHost>
}): Supervisor {
  const ensure = createSupervisorStarter(options)
  const { log } = supervisorPaths(options.paths)

  async function send(name: string, verb: Verb): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const socket = await ensure()
      try {
        const { status, body } = await requestSupervisor(
          socket,
          'POST',
          `/workloads/${encodeURIComponent(name)}/${verb}`,
        )
        if (status === 200) return
        throw decodeFailure(body)
      } catch (error) {
        const again = error instanceof Unreachable || isFailure(error, 'supervisor_leaving')
        if (!again) throw error
        if (attempt >= TRIES) {
          const problem = error.message
          throw failures.supervisor_unreachable({ problem, log }, { cause: error })
        }
        await delay(50 * attempt)
      }
    }
  }

  return {
    ensure: async () => void (await ensure()),
    start: name => send(name, 'start'),
    stop: name => send(name, 'stop'),
    remove: name => send(name, 'remove'),
    upgrade: name => send(name, 'upgrade'),
    settleUpgrade: name => send(name, 'settle-upgrade'),
    foreground: async (name, foreground) => runForeground(await options.host(), name, foreground),
  }
}
