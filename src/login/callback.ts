import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { messageOf } from '../errors.ts'
import { createPeerOwners } from '../net/peer-owner.ts'
import { callbackPage } from './callback-page.ts'

/** Where a browser comes back to after a login (RFC 8252, section 7.3). */
export interface Callback {
  readonly redirectUri: string
  /**
   * The address the browser came back to. Whatever else is sent here is refused and changes nothing: any
   * page and any program of this machine can send something.
   */
  readonly arrived: Promise<URL>
  /** Shows the person how it ended. */
  finish(problem?: string): void
  close(): Promise<void>
}

/** What strangers of this machine may take of the listener. */
const LIMITS = {
  /** Without a request. */
  connections: 64,
  /** An authorization response has the length of a URL. */
  maxHeaderBytes: 16 * 1024,
  requestMs: 10_000,
  checkMs: 1000,
}

/**
 * Listens on both loopback addresses of this machine. `localhost` may mean either, and a code must not reach
 * another program that listens on the other. Port 0 takes any. Fails with what `refuse` makes when the port
 * cannot be had.
 */
export async function listenForCallback({
  port,
  path = '/callback',
  state,
  refuse,
}: {
  port: number
  path?: string
  state: string
  refuse: (d: { port: number; problem: string }, options: { cause: unknown }) => Error
}): Promise<Callback> {
  const { promise: arrived, resolve } = Promise.withResolvers<URL>()
  let waiting: ServerResponse | undefined

  const owners = createPeerOwners()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (owners && !(await owners.isOurs(request.socket))) {
      return show(response, 403, 'This is the login of another user of this machine.')
    }
    const url = new URL(redirectUri)
    const [pathname, query = ''] = (request.url ?? '').split('?', 2)
    url.search = query
    if (pathname !== path) return show(response, 404, 'keelson waits here for the end of a login.')
    if (request.method !== 'GET') return show(response, 405, 'Only GET is supported here.')
    const words = url.searchParams
    if (words.get('state') !== state) return show(response, 400, 'This response belongs to another login.')
    if (waiting) return show(response, 400, 'This login already has a response.')
    if (!words.has('code') && !words.has('error')) return show(response, 400, 'The response holds no code.')
    waiting = response
    resolve(url)
  }

  const servers = await listenOnBoth(port, answer).catch(error => {
    const problem = hasCode(error, 'EADDRINUSE') ? 'it is taken' : messageOf(error)
    throw refuse({ port, problem }, { cause: error })
  })
  const redirectUri = `http://localhost:${portOf(servers[0])}${path}`
  return {
    redirectUri,
    arrived,
    finish(problem) {
      if (waiting) show(waiting, problem === undefined ? 200 : 400, problem)
    },
    async close() {
      await Promise.all(servers.map(close))
    },
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function listenOnBoth(port: number, handler: Handler): Promise<[Server, ...Server[]]> {
  for (let attempt = 0; ; attempt++) {
    const first = await listen('127.0.0.1', port, handler)
    try {
      return [first, await listen('::1', portOf(first), handler)]
    } catch (error) {
      if (hasCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL')) return [first] // no IPv6 here
      await close(first)
      if (port !== 0 || attempt === 5) throw error
    }
  }
}

async function listen(host: string, port: number, handler: Handler): Promise<Server> {
  const { maxHeaderBytes, requestMs, checkMs } = LIMITS
  const server = createServer(
    {
      keepAlive: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
    },
    handler,
  )
  limitConnections(server)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port }, resolve)
  await promise
  return server
}

/** Ends the connection that has been silent for longest when there are too many: the browser is the last to come. */
function limitConnections(server: Server): void {
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    const [oldest] = silent
    if (silent.size > LIMITS.connections) oldest?.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket))
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Ends when the last page is on its way; a browser that dawdles does not hold us up. */
function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), 2_000)
  return promise.finally(() => clearTimeout(late))
}

function show(response: ServerResponse, status: number, problem?: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end(callbackPage(problem))
}
