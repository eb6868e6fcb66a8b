import { randomBytes } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import type { Supervisor } from '../../src/contracts/workload.ts'
import { messageOf } from '../../src/errors.ts'
import { type Callers, createCallers } from '../../src/http/callers.ts'
import { createSiteGuard } from '../../src/http/guard-sites.ts'
import type { HttpHost } from '../../src/http/http-host.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { createPeerOwners } from '../../src/net/peer-owner.ts'
import type {} from '../callers/index.ts'
import { takeSupervisorRole } from '../supervisor/index.ts'
import { createDiscovery } from './discovery.ts'
import { createEarlyServer } from './early-server.ts'
import { failures } from './failures.ts'
import { listenOnPort, listenOnSocket } from './listen-exclusively.ts'
import type { Login, OpenLogin } from './login.ts'

const GRACE_MS = 30_000
/** To become the supervisor blocks this process for as long as a short request takes; those that wait go first. */
const FIRST_REQUESTS_MS = 200
const POLL_MS = 20

export interface ServeOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** A path; in the place of host and port. */
  readonly socket?: string | undefined
  readonly openapi: boolean
  /** Show the page at `/`. */
  readonly ui: boolean
  /** Listen beyond this machine without authentication. */
  readonly allowRemote: boolean
  /** How callers log in; absent when no login is required. */
  readonly login?: Login | undefined
  /** Requests a second that one caller may make; 0: any number. */
  readonly rateLimit: number
  readonly signal: AbortSignal
  /** Called once, when the server accepts requests. */
  readonly onUp: (url: string) => void
}

/** Serves the API until the signal aborts, then finishes the requests under way. */
export async function serveApi(app: App, options: ServeOptions): Promise<void> {
  const { host, signal, login } = options
  const socket = options.socket === undefined ? undefined : resolve(options.socket)
  if (socket === undefined && !isLoopback(host) && !login && !options.allowRemote) {
    throw failures.serve_remote_refused({ host })
  }
  const discovery = createDiscovery({ state: app.paths.state, log: app.log })
  await discovery.assertFree()

  const nonce = randomBytes(16).toString('hex')
  const guard = createSiteGuard(
    socket === undefined ? { host, anyName: login !== undefined, pages: login?.pages } : { socket },
  )
  const callers = socket === undefined && !login ? await callersOf(app) : undefined
  const early = createEarlyServer({ nonce, guard, callers })
  callers?.watch(early.server, { local: isLoopback(host) })
  const close = socket === undefined ? undefined : await listenOnSocket(early.server, socket)
  const port = socket === undefined ? await listenOnPort(early.server, host, options.port) : 0
  const url =
    socket === undefined ? `http://${isIPv6(host) ? `[${host}]` : host}:${port}` : `unix://${socket}`
  let http: HttpHost | undefined
  let opened: OpenLogin | undefined
  let role: ReturnType<typeof takeRole> | undefined
  try {
    opened = await login?.open(url)
    await discovery.write({ url, pid: process.pid, nonce, started_at: new Date().toISOString() })
    const { loadOperations } = await import('./load-operations.ts')
    const parts = { listener: early.server, nonce, guard, login: opened, callers }
    http = await loadOperations(app, { ...options, ...parts })
    const answered = early.open(await http.ready())
    options.onUp(url)
    role = takeRole(app, Promise.race([answered, delay(FIRST_REQUESTS_MS)]))
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve))
  } finally {
    await http?.close(GRACE_MS)
    await role?.hand()
    await close?.()
    await discovery.remove(nonce)
    early.server.close()
    early.server.closeAllConnections()
    await opened?.server?.close()
  }
}

/** Finds out which requests are the user's own, where no login is required. */
async function callersOf(app: App): Promise<Callers> {
  const token = await app.service('callerToken')
  return createCallers({ owners: createPeerOwners(), token: () => token.required(), log: app.log })
}

/** Hosts workloads in this process unless another process does. `hand` gives them to the next supervisor. */
function takeRole(app: App, after: Promise<void>): { hand(): Promise<void> } {
  const ending = new AbortController()
  const role = takeSupervisorRole(app, { signal: ending.signal, after }).catch(error =>
    app.log.error(`Workloads cannot be hosted here: ${messageOf(error)}`),
  )
  return {
    async hand() {
      ending.abort()
      await role
      const store = await app.service('workloadStore')
      const records = [...(await store.statuses.list()).values()]
      if (records.some(record => record.process_id === process.pid))
        await startNext(await app.service('supervisor'))
    },
  }
}

/** Starts the next supervisor. It takes over the workloads without this process, which may take it a while. */
async function startNext(supervisor: Supervisor): Promise<void> {
  let isOver = false
  const adopted = supervisor.ensure().finally(() => {
    isOver = true
  })
  adopted.catch(() => undefined) // its failure counts only before the supervisor is found
  while (!isOver && !(await supervisor.find())) await delay(POLL_MS)
  if (isOver) await adopted
}
