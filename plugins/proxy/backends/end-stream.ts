import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { errorResponse, type RequestId } from '../../../src/lib/json-rpc.ts'
import { formatSse } from '../../../src/lib/sse.ts'
import { ClientGone } from '../refusal.ts'
import type { BrokenStream } from './relay.ts'

/**
 * Ends an event stream that the server broke off, so that its client need not wait for a timeout.
 *
 * The stream of a call gets the call's error as its last event, unless its events have ids: then the client
 * may ask for the rest, and an answer of ours would be the wrong one. Returns false where this is no such
 * stream; then the connection has to break.
 */
export function endStream(
  { request, response }: Exchange,
  error: Error,
  { id, stream: { first } }: { id: RequestId | undefined; stream: BrokenStream },
): boolean {
  if (response.destroyed || error instanceof ClientGone) return false
  const resumable = first !== undefined && /(?:^|[\r\n])id:/.test(first.toString('latin1'))
  if (request.method === 'GET' || id === undefined) {
    response.end()
    return true
  }
  if (resumable) return false
  // A blank line first: the server may have stopped in the middle of an event.
  response.end(
    `\n\n${formatSse({ event: 'message', data: errorResponse(-32000, 'The server went away', id) })}`,
  )
  return true
}
