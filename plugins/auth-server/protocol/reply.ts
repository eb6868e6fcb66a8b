import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OAuthError } from './oauth-error.ts'

/** A whole response. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
}

/** What holds tokens or codes must not be kept by anybody (RFC 6749, section 5.1). */
const PRIVATE = { 'cache-control': 'no-store', pragma: 'no-cache', 'referrer-policy': 'no-referrer' }

export const jsonReply = (
  status: number,
  document: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { ...PRIVATE, 'content-type': 'application/json', ...headers },
  body: `${JSON.stringify(document)}\n`,
})

/** RFC 6749, section 5.2. */
export const errorReply = ({ code, message, status, headers }: OAuthError): Reply =>
  jsonReply(status, { error: code, error_description: message }, headers)

/** 303, so that whatever the request was the browser asks with GET (RFC 9700, section 4.12). */
export const redirectReply = (
  url: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Reply => ({ status: 303, headers: { ...PRIVATE, ...headers, location: url }, body: '' })

export const emptyReply = (status: number): Reply => ({ status, headers: PRIVATE, body: '' })

export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const body = Buffer.from(reply.body)
  const headers = Object.entries(reply.headers).map(
    ([name, value]) => [name, typeof value === 'string' ? value : [...value]] as const,
  )
  response.writeHead(reply.status, {
    'x-content-type-options': 'nosniff',
    ...Object.fromEntries(headers),
    'content-length': body.length,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
  // The rest of an upload is discarded, so that the client can read the response.
  if (!request.readableEnded) request.on('error', () => {}).resume()
}
