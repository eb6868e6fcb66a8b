import type { Exchange } from '../../src/contracts/pipeline.ts'

/** A whole response that the proxy makes itself. */
export interface OwnResponse {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** Sends it; without the body where HEAD was asked. */
export function sendOwnResponse({ request, response }: Exchange, own: OwnResponse): void {
  response.writeHead(own.status, {
    ...own.headers,
    'content-type': own.contentType,
    'content-length': own.body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? undefined : own.body)
  // The rest of the upload is discarded, so that the client can read the response.
  if (!request.readableEnded) request.on('error', () => {}).resume()
}
