import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProxyMode } from '../../../src/contracts/run-config.ts'
import type { Workload } from '../../../src/contracts/workload.ts'
import { failures } from '../failures.ts'

/** Where a workload is now. */
export interface WorkloadAddress {
  readonly url: URL
  readonly mode: ProxyMode
  /**
   * Looks again, after nothing listened at the URL. A supervisor that was killed is started. Fails with
   * `workload_missing`, or with `proxy_workload_down` when the workload was stopped.
   */
  refresh(): Promise<void>
}

/** How long a workload that should run may take until it listens, in milliseconds. */
const COME_UP_MS = 60_000
const LOOK_MS = 200

/** Statuses of a workload that will not come up by itself. */
const DOWN: ReadonlySet<string> = new Set(['stopped', 'stopping', 'removing', 'error', 'policy_stopped'])

/**
 * Finds a workload and waits until it listens. A stopped one is not started: its user has stopped it. Fails with
 * `workload_missing`, `proxy_workload_down` and `proxy_workload_silent`.
 */
export async function findWorkload(options: {
  name: string
  /** Reads the workload; starts a supervisor that is gone. */
  get: (name: string) => Promise<Workload>
  signal: AbortSignal
  comeUpMs?: number
}): Promise<WorkloadAddress> {
  const { name, get, signal, comeUpMs = COME_UP_MS } = options
  const look = async () => assertUp(await get(name))
  const deadline = Date.now() + comeUpMs
  let workload = await look()
  while (workload.status === 'starting' || !(await listens(workload))) {
    if (Date.now() > deadline) {
      throw failures.proxy_workload_silent({ name, url: workload.url, seconds: Math.round(comeUpMs / 1000) })
    }
    await delay(LOOK_MS, undefined, { signal })
    workload = await look()
  }
  return {
    get url() {
      return new URL(workload.url)
    },
    mode: workload.proxy_mode,
    async refresh() {
      workload = await look()
    },
  }
}

function assertUp(workload: Workload): Workload {
  const { name, status, status_context: reason } = workload
  if (DOWN.has(status)) throw failures.proxy_workload_down({ name, status, reason })
  return workload
}

/** Whether something accepts connections there. Trying to bind the port could take it from the supervisor. */
async function listens({ url }: Workload): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
