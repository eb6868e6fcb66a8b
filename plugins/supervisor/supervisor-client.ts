import { setTimeout as delay } from 'node:timers/promises'
import type { Supervisor } from '../../src/contracts/workload.ts'
import { isFailure } from '../../src/errors.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'
import type { Paths } from '../../src/paths.ts'
import { assertPrivateFolder } from '../../src/private-folder.ts'
import { decodeFailure, supervisorPaths, type Verb } from './control-protocol.ts'
import { requestSupervisor, Unreachable } from './control-request.ts'
import { failures } from './failures.ts'
import { findSupervisor } from './find-supervisor.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import type { Launch } from './launch-supervisor.ts'
import { runForeground } from './run-foreground.ts'
import { createSupervisorStarter, takeOver } from './start-supervisor.ts'

/** How often a request is sent when the supervisor ends meanwhile. */
const TRIES = 3
/** How long a request goes to a supervisor that was found without looking for it again, in milliseconds. */
const RECENT_MS = 1000
/** How long a supervisor that has handed over may take to end, in milliseconds. */
const END_MS = 5000

/** Calls the supervisor from another process. `launch` says how a supervisor is started. */
export function createSupervisorClient(options: {
  paths: Paths
  /** Build of this program; a supervisor of another build is replaced. */
  build: string
  launch: () => Launch
  /** Makes a host for `foreground`. */
  host: () => Promise<WorkloadHost>
}): Supervisor {
  const start = createSupervisorStarter(options)
  const place = supervisorPaths(options.paths)

  let last: { readonly at: number; readonly socket: string } | undefined
  let search: Promise<string> | undefined
  /** A command ensures it early, without waiting: what it does next uses that search. */
  function ensure(): Promise<string> {
    search ??= start()
      .then(socket => {
        last = { at: Date.now(), socket }
        return socket
      })
      .finally(() => {
        search = undefined
      })
    return search
  }

  /** A command ensures that there is a supervisor early, so it need not look for one again. */
  const recent = () => (last && Date.now() - last.at < RECENT_MS ? last.socket : undefined)

  /** Sends a request, again when the supervisor ends meanwhile. Returns the body of the response. */
  async function send(path: string, input?: unknown, onSent?: () => void): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const socket = (attempt === 1 && recent()) || (await ensure())
      try {
        return await post(socket, path, { input, onSent })
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

  const find = () => {
    assertPrivateFolder(options.paths.runtime)
    return findSupervisor(place)
  }

  /** As `send`, to a supervisor that runs in another process; undefined where there is none. */
  async function sendToRunning(path: string, input: unknown): Promise<string | undefined> {
    const found = await find()
    if (!found || found.info.pid === process.pid) return undefined
    try {
      return await post(found.socket, path, { input })
    } catch (error) {
      if (error instanceof Unreachable || isFailure(error, 'supervisor_older')) return undefined
      throw error
    }
  }

  async function act(name: string, verb: Verb, onSent?: () => void): Promise<void> {
    await send(`/workloads/${encodeURIComponent(name)}/${verb}`, undefined, onSent)
  }

  return {
    find: async () => (await find())?.info,
    async end() {
      const found = await find()
      if (!found) return undefined
      const { goesOn = false } = await takeOver(found.socket)
      if (goesOn) return { ...found.info, goesOn }
      // Until then the statuses name a process that runs, so nobody would start the next one.
      for (const end = Date.now() + END_MS; processIdentity(found.info.pid) && Date.now() < end; )
        await delay(20)
      return { ...found.info, goesOn }
    },
    ensure: async () => void (await ensure()),
    start: name => act(name, 'start'),
    stop: name => act(name, 'stop'),
    restart: (name, { onSent } = {}) => act(name, 'restart', onSent),
    remove: name => act(name, 'remove'),
    upgrade: name => act(name, 'upgrade'),
    settleUpgrade: name => act(name, 'settle-upgrade'),
    async call(operation, input, { start }) {
      const path = `/operations/${operation}`
      const body = await (start ? send(path, input) : sendToRunning(path, input))
      return body === undefined ? undefined : JSON.parse(body)
    },
    foreground: async (name, foreground) => runForeground(await options.host(), name, foreground),
  }
}

/** Fails with what the supervisor fails with, or `Unreachable`. */
async function post(
  socket: string,
  path: string,
  { input, onSent }: { input: unknown; onSent?: (() => void) | undefined },
): Promise<string> {
  const body = input === undefined ? {} : { body: JSON.stringify(input) }
  const response = await requestSupervisor(socket, 'POST', path, { ...body, onSent })
  if (response.status !== 200) throw decodeFailure(response.body)
  return response.body
}
