import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface GitServer {
  /** `127.0.0.1:PORT` */
  readonly host: string
  /** Requests so far. */
  readonly asked: { path: string; authorization: string | undefined }[]
  /** Answers in the place of git from now on, where it answers true. */
  answer(how: (request: IncomingMessage, response: ServerResponse) => boolean): void
  /** Connections that are open now. */
  connections(): number
}

/** Serves the bare repositories below a folder over smart HTTP, with git's own program; `old`: the protocol before version 2. */
export async function gitServer(
  folder: string,
  { old = false, tls }: { old?: boolean; tls?: { key: string; cert: string } | undefined } = {},
): Promise<GitServer> {
  const asked: GitServer['asked'] = []
  const sockets = new Set<Socket>()
  let first: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization })
    if (!first(request, response)) serveGit(folder, old, request, response)
  }
  const server = tls ? createTlsServer(tls, handle) : createServer(handle)
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(how) {
      first = how
    },
    connections: () => sockets.size,
  }
}

/** Runs `git http-backend` for one request (git-http-backend(1), RFC 3875). */
function serveGit(folder: string, old: boolean, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x')
  const header = (name: string) => String(request.headers[name] ?? '')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH ?? '',
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? '',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: old ? '' : header('git-protocol'),
      REMOTE_ADDR: '127.0.0.1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin.on('error', () => undefined))
  let head = Buffer.alloc(0)
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    const lines = head.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(lines.map(line => line.split(/: */, 2)))
    const { Status: status = '200', ...others } = headers
    response.writeHead(Number.parseInt(status, 10), others)
    response.write(head.subarray(end + 4))
  })
  child.stdout.on('end', () => response.end())
}
