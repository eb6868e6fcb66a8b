import { setTimeout as delay } from 'node:timers/promises'
import type { Supervisor } from '../../src/contracts/workload.ts'
import { isFailure } from '../../src/errors.ts'
import type { Paths } from '../../src/paths.ts'
import { assertPrivateFolder } from '../../src/private-folder.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { decodeFailure, supervisorPaths, type Verb } from './control-protocol.ts'
import { requestSupervisor, Unreachable } from './control-request.ts'
import { failures } from './failures.ts'
import { findSupervisor } from './find-supervisor.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import { type Launch, launch } from './launch-supervisor.ts'

const START_MS = 10_000
const HANDOVER_MS = 60_000
const ADOPTION_MS = 3000
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
  const { paths, build } = options
  const place = supervisorPaths(paths)

  const find = async () => {
    assertPrivateFolder(paths.runtime)
    return findSupervisor(place)
  }

  async function ensure(): Promise<string> {
    const found = await find()
    if (found?.info.build === build) return found.socket
    return withFileLock(place.starting, startOrReplace, { seconds: HANDOVER_MS / 1000 })
  }

  async function startOrReplace(): Promise<string> {
    const found = await find()
    if (found?.info.build === build) return found.socket
    if (found) {
      await requestSupervisor(found.socket, 'POST', '/handover', { timeoutMs: HANDOVER_MS }).catch(error => {
        if (!(error instanceof Unreachable)) throw error // it may end before it responds
      })
    }
    const started = await launch(options.launch(), place.log)
    try {
      const problem = await Promise.race([started.exited, untilResponding()])
      if (typeof problem === 'object') {
        await untilAdopted(problem.socket)
        return problem.socket
      }
      // Another process may have started one first, e.g. a watcher.
      const other = await find()
      if (other) {
        await untilAdopted(other.socket)
        return other.socket
      }
      throw failures.supervisor_unreachable({ problem, log: place.log })
    } finally {
      started.release()
    }
  }

  /** Waits for adoption: until then the statuses are those of the dead supervisor. */
  async function untilAdopted(socket: string): Promise<void> {
    try {
      await requestSupervisor(socket, 'GET', '/adopted', { timeoutMs: ADOPTION_MS })
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error // adoption goes on without this process
    }
  }

  async function untilResponding(): Promise<{ socket: string } | string> {
    const deadline = Date.now() + START_MS
    while (Date.now() < deadline) {
      const found = await find()
      if (found) return found
      await delay(20)
    }
    return `it was started and did not respond for ${START_MS / 1000} seconds.`
  }

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
          throw failures.supervisor_unreachable({ problem, log: place.log }, { cause: error })
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
    async foreground(name, { signal, onUp }) {
      const host = await options.host()
      const stop = () => void host.stop(name).catch(() => undefined) // `close` below reports it
      signal.addEventListener('abort', stop)
      try {
        signal.throwIfAborted()
        await host.start(name)
        onUp()
        const last = await host.ended(name)
        if (last?.status === 'error') {
          throw failures.workload_failed({ name, reason: last.status_context ?? 'the reason is unknown' })
        }
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        signal.removeEventListener('abort', stop)
        await host.close({ handover: false })
      }
    },
  }
}
