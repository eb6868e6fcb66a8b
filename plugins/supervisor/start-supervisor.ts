import { setTimeout as delay } from 'node:timers/promises'
import type { Paths } from '../../src/paths.ts'
import { assertPrivateFolder } from '../../src/private-folder.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { type Handover, supervisorPaths } from './control-protocol.ts'
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
    const before = await find()
    if (before?.info.build === build) return before.socket
    const { operations = {} } = before ? await takeOver(before.socket) : {}
    const started = await launch(options.launch(), place.log)
    try {
      const problem = await Promise.race([started.exited, untilResponding()])
      // Another process may have started one first, e.g. a watcher.
      const found = typeof problem === 'object' ? problem : await find()
      if (!found) throw failures.supervisor_unreachable({ problem: String(problem), log: place.log })
      await handOn(found.socket, operations)
      await untilAdopted(found.socket)
      return found.socket
    } finally {
      started.release()
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

/** Asks a supervisor to end and hand over what it has in memory. Resolves when it hosts nothing any more. */
export async function takeOver(socket: string): Promise<Handover> {
  try {
    const { status, body } = await requestSupervisor(socket, 'POST', '/handover', { timeoutMs: HANDOVER_MS })
    return status === 200 ? (JSON.parse(body) as Handover) : {}
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error // it may end before it responds
    return {}
  }
}

/** Gives the new supervisor what the one before had in its memory. What does not arrive there is lost. */
async function handOn(socket: string, operations: NonNullable<Handover['operations']>): Promise<void> {
  for (const [name, input] of Object.entries(operations)) {
    const options = { body: JSON.stringify(input), timeoutMs: ADOPTION_MS }
    try {
      await requestSupervisor(socket, 'POST', `/operations/${name}`, options)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
    }
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
