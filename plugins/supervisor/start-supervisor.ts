import { setTimeout as delay } from 'node:timers/promises'
import type { Paths } from '../../src/paths.ts'
import { assertPrivateFolder } from '../../src/private-folder.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { supervisorPaths } from './control-protocol.ts'
import { requestSupervisor, Unreachable } from './control-request.ts'
import { failures } from './failures.ts'
import { findSupervisor } from './find-supervisor.ts'
import { type Launch, launch } from './launch-supervisor.ts'

const START_MS = 10_000
const HANDOVER_MS = 60_000
const ADOPTION_MS = 3000

/**
 * Makes a function that finds the supervisor of this build, and starts one or replaces one of another build. It
 * returns the supervisor's socket, and fails with `supervisor_unreachable`.
 */
export function createSupervisorStarter(options: {
  paths: Paths
  build: string
  launch: () => Launch
}): () => Promise<string> {
  const { paths, build } = options
  const place = supervisorPaths(paths)

  const find = async () => {
    assertPrivateFolder(paths.runtime)
    return findSupervisor(place)
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

  return async () => {
    const found = await find()
    if (found?.info.build === build) return found.socket
    return withFileLock(place.starting, startOrReplace, { seconds: HANDOVER_MS / 1000 })
  }
}
