import { isRequest, type JsonRpcMessage } from '../../../src/net/json-rpc.ts'

/** What a connection ends with that the server has closed while it was not in use. */
const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** How often such a request is sent again: the next connection that is kept may be closed as well. */
export const MOST_REPEATS = 3

/** Requests that change nothing: one that a server has got and lost all the same may be sent again. */
const REPEATABLE: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** Whether a request that got no response failed because its connection was closed. */
export const isClosedConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && CLOSED.has(error.code)

/** Whether a message may be sent once more when its connection was closed before a response began. */
export const isRepeatable = (message: JsonRpcMessage | undefined): boolean =>
  message !== undefined && isRequest(message) && REPEATABLE.has(message.method)
