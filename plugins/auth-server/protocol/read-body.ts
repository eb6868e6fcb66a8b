import type { IncomingMessage } from 'node:http'
import { OAuthError } from './oauth-error.ts'

const MAX_BYTES = 64 * 1024

/**
 * Reads the body of a request, at most 64 KiB. Fails with `invalid_request`: 413 where it is longer, 415 where it is
 * of another media type.
 */
export async function readBody(request: IncomingMessage, mediaType: string): Promise<string> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== mediaType) {
    throw new OAuthError('invalid_request', `The body must be of the type ${mediaType}.`, { status: 415 })
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLong()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The connection ends with the response, so that nobody goes on sending. */
const tooLong = (): OAuthError =>
  new OAuthError('invalid_request', 'The body is longer than 64 KiB.', {
    status: 413,
    headers: { connection: 'close' },
  })
