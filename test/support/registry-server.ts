import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RegistryServer {
  readonly url: string
  /** Paths asked for so far, with their headers. */
  readonly asked: { path: string; headers: IncomingMessage['headers']; status?: number }[]
  /** What it does from now on. */
  answer(how: (request: IncomingMessage, response: ServerResponse, url: URL) => void): void
  /** Refuses connections from now on. */
  stop(): Promise<void>
}

/** An HTTP server on loopback that answers whatever a test wants, lies among it. */
export async function registryServer(
  how: (request: IncomingMessage, response: ServerResponse, url: URL) => void = (_, response) =>
    response.end('{}'),
): Promise<RegistryServer> {
  const asked: RegistryServer['asked'] = []
  let current = how
  const server = createServer((request, response) => {
    const entry: RegistryServer['asked'][number] = { path: request.url ?? '', headers: request.headers }
    asked.push(entry)
    response.on('finish', () => {
      entry.status = response.statusCode
    })
    current(request, response, new URL(request.url ?? '/', 'http://x'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(stop)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      current = next
    },
    stop,
  }
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(value))
}

/** Servers served a page at a time, as the MCP registry protocol (v0.1) says, with an ETag for each page. */
export function pagesOf(servers: readonly { name: string }[], size: number) {
  return (request: IncomingMessage, response: ServerResponse, url: URL) => {
    const one = /^\/v0\.1\/servers\/([^/]+)\/versions\/latest$/.exec(url.pathname)
    if (one) {
      const found = servers.find(server => server.name === decodeURIComponent(one[1] ?? ''))
      if (found) return sendJson(response, { server: found, _meta: {} })
      response.writeHead(404, { 'content-type': 'application/json' })
      return response.end('{"error":"Server not found"}')
    }
    if (url.pathname !== '/v0.1/servers') return response.writeHead(404).end()
    const search = url.searchParams.get('search')
    const listed = search ? servers.filter(server => server.name.includes(search)) : servers
    const start = Number(url.searchParams.get('cursor') ?? 0)
    const page = listed.slice(start, start + size)
    const next = start + size < listed.length ? { nextCursor: String(start + size) } : {}
    const etag = `"${start}-${JSON.stringify(page).length}"`
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end()
    sendJson(
      response,
      { servers: page.map(server => ({ server, _meta: {} })), metadata: { count: page.length, ...next } },
      { etag },
    )
  }
}
