import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const sha256 = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** One request that a fake server has got. */
export interface Got {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly authorization: string | undefined
  readonly body: string
}

export type Answer = (got: Got, response: ServerResponse, request: IncomingMessage) => unknown

/** An HTTP server on loopback that answers as a test says, and remembers what it was asked. */
export async function fakeServer(answer: Answer): Promise<{ host: string; origin: string; got: Got[] }> {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'http://fake')
    const seen = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      authorization: request.headers.authorization,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    got.push(seen)
    await answer(seen, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, origin: `http://${host}`, got }
}

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'
export const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json'

/** A small image manifest; `note` makes its digest differ from others. */
export function imageManifest(note = ''): Buffer {
  const blob = { mediaType: 'application/vnd.oci.empty.v1+json', digest: sha256('{}'), size: 2 }
  return Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: blob,
      layers: [blob],
      annotations: { note },
    }),
  )
}

export function send(
  response: ServerResponse,
  bytes: Buffer | string,
  headers: Record<string, string> = { 'content-type': MANIFEST_TYPE },
  status = 200,
): void {
  response.writeHead(status, headers).end(bytes)
}
