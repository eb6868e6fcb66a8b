import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { errorResponse, type RequestId } from '../../../src/net/json-rpc.ts'
import { LATE_MESSAGE, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { formatSse } from '../../../src/net/sse.ts'
import { ClientGone } from '../request-refusal.ts'
import type { BrokenStream } from './response-writer.ts'

/**
 * Ends an event stream that the server broke off, so that its client need not wait for a timeout.
 *
 * The stream of a call gets the call's error as its last event. Not so if its events have ids and the server
 * is remote: it may only be the network that broke, and the client can ask for the rest. A local server that
 * breaks a connection has ended, and its sessions with it. Returns false where the connection has to break. `isLate`:
 * we broke it off, because the call took too long.
 */
export function endStream(
  { request, response }: Exchange,
  error: Error,
  {
    id,
    stream: { first },
    remote,
    isLate,
  }: { id: RequestId | undefined; stream: BrokenStream; remote: boolean; isLate: boolean },
): boolean {
  if (response.destroyed || error instanceof ClientGone) return false
  const resumable = first !== undefined && /(?:^|[\r\n])id:/.test(first.toString('latin1'))
  if (request.method === 'GET' || id === undefined) {
    response.end()
    return true
  }
  if (remote && resumable && !isLate) return false
  const data = errorResponse(SERVER_ERROR, isLate ? LATE_MESSAGE : 'The server went away', id)
  // A blank line first: the server may have stopped in the middle of an event.
  response.end(`\n\n${formatSse({ event: 'message', data })}`)
  return true
}
