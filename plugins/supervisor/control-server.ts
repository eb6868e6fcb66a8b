import { rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { dirname } from 'node:path'
import type { SupervisorOperation } from '../../src/contracts/supervisor-operation.ts'
import { isFailure } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { ensurePrivateFolder } from '../../src/private-folder.ts'
import { encodeFailure, type Handover, type Info, VERBS, type Verb } from './control-protocol.ts'
import { failures } from './failures.ts'
import type { WorkloadHost } from './host/workload-host.ts'

/** The supervisor's control API: HTTP over a Unix socket that only its user can open. */
export interface ControlServer {
  /** Requests being worked on. */
  readonly pending: number
  /** Opens the socket again if it was removed. */
  repair(): Promise<void>
  close(): Promise<void>
}

export async function openControlServer(options: {
  socket: string
  build: string
  host: WorkloadHost
  operations: readonly SupervisorOperation[]
  /** Resolves when adoption has ended, whether every workload could be adopted or not. */
  adopted: Promise<void>
  log: Log
  /** Called after each request. */
  onHandled: () => void
  /** Called when a new supervisor takes over; the response is sent when it resolves. */
  onHandover: () => Promise<Handover>
}): Promise<ControlServer> {
  const { socket, build, host, operations, adopted, log, onHandled, onHandover } = options
  let pending = 0

  async function handle(method: string, path: string, body: Promise<string>): Promise<unknown> {
    if (method === 'GET' && path === '/info') {
      return { build, pid: process.pid, workloads: host.size } satisfies Info
    }
    if (method === 'GET' && path === '/adopted') return adopted
    if (method === 'POST' && path === '/handover') return onHandover()
    const [, collection, name, verb] = path.split('/')
    if (method === 'POST' && collection === 'workloads' && name && isVerb(verb)) {
      const workload = decodeURIComponent(name)
      return verb === 'settle-upgrade' ? host.settleUpgrade(workload) : host[verb](workload)
    }
    const operation = collection === 'operations' && operations.find(one => one.name === name)
    if (method === 'POST' && operation) return operation.handle(JSON.parse(await body))
    throw failures.supervisor_older({ asked: `${method} ${path}` })
  }

  const server = createServer((request, response) => {
    pending++
    const body = readBody(request)
    body.catch(() => undefined) // most requests have none, and nobody waits for it
    handle(request.method ?? '', request.url ?? '', body)
      .then(
        value => ({ status: 200, body: JSON.stringify(value ?? {}) }),
        error => {
          if (!isFailure(error)) log.error('A request failed.', { error: stackOf(error) })
          return encodeFailure(error)
        },
      )
      .then(({ status, body }) => {
        pending--
        onHandled()
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
        response.end(body)
      })
  })
  server.requestTimeout = 10_000

  let inode = await bind(server, socket)
  let leaving = false
  const close = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeIdleConnections()
    })
  return {
    get pending() {
      return pending
    },
    async repair() {
      if (leaving || (await inodeOf(socket)) === inode || leaving) return
      log.warn('The socket has disappeared and is made anew.')
      await close()
      inode = await bind(server, socket)
    },
    close() {
      leaving = true
      return close()
    },
  }
}

/** Resolves with the body of a request. Fails when the connection ends before. */
async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  request.setEncoding('utf8')
  for await (const chunk of request) body += chunk
  return body
}

const isVerb = (text: string | undefined): text is Verb => VERBS.some(verb => verb === text)
const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error))

/** Only the holder of the supervisor's lock gets here, so an existing socket belongs to a dead process. */
async function bind(server: Server, socket: string): Promise<number | undefined> {
  ensurePrivateFolder(dirname(socket))
  await rm(socket, { force: true })
  const before = process.umask(0o177) // the socket is private from its first moment
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(socket, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    process.umask(before)
  }
  return inodeOf(socket)
}

const inodeOf = (path: string) =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  )
