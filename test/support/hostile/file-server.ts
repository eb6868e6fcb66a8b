import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a file server says to one request: a body with its type, or undefined for 404. */
export type Page = { readonly type: string; readonly body: string | Buffer } | undefined

/** A package index of a test's own. */
export interface FileServer {
  /** Where it listens, with the port: `127.0.0.1:4873`. */
  readonly host: string
  readonly url: string
  /** Paths asked for so far, percent-decoded, in order. */
  readonly asked: string[]
  close(): Promise<void>
}

/**
 * Serves what `pageOf` finds. `host` is how the asker names this server, so that addresses in pages
 * lead back by the same way, also out of a container.
 *
 * @param address where to listen; `0.0.0.0` for builds in containers
 */
export async function fileServer(
  pageOf: (path: string, host: string) => Page,
  address = '127.0.0.1',
): Promise<FileServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url?.replace(/\?.*/, '') ?? '/')
    asked.push(path)
    const page = pageOf(path, request.headers.host ?? '')
    if (!page) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    response.writeHead(200, { 'content-type': page.type }).end(page.body)
  })
  server.listen(0, address)
  await once(server, 'listening')
  const host = `${address}:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}`,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
