import type { CallerProblem } from '../../src/http/callers.ts'
import { toRaw } from '../../src/lib/raw-json.ts'
import type { RequestId } from '../../src/net/json-rpc.ts'
import { INVALID_REQUEST, SERVER_ERROR, SESSION_NOT_FOUND } from '../../src/net/rpc-error-codes.ts'
import { errorText } from '../../src/net/rpc-message.ts'
import type { OwnResponse } from './own-response.ts'

/** A request that the proxy refuses, thrown from wherever that is found out. `sendRefusal` makes the response. */
export class Refusal extends Error implements OwnResponse {
  override readonly name = 'Refusal'
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    content: { type: string; body: Buffer },
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(content.body.toString('utf8'))
    this.status = status
    this.contentType = content.type
    this.body = content.body
    this.headers = headers
  }
}

/**
 * A refusal that carries a JSON-RPC error. The id is a value (`id`) or the raw text that the client wrote
 * (`idText`, see raw-json.ts); it is left out where it is not known.
 */
export const rpcRefusal = (
  status: number,
  code: number,
  message: string,
  options: {
    id?: RequestId | undefined
    idText?: string | undefined
    data?: unknown
    headers?: Readonly<Record<string, string>>
  } = {},
): Refusal => {
  const idText = options.idText ?? (options.id === undefined ? undefined : toRaw(JSON.stringify(options.id)))
  const body = Buffer.from(errorText(idText, code, message, options.data), 'latin1')
  return new Refusal(status, { type: 'application/json', body }, options.headers)
}

/**
 * Nothing can serve the request for now; the client should try again after `seconds` (`Retry-After`, RFC 9110,
 * section 10.2.3).
 */
export const unavailable = (message: string, id: RefusedId = {}, seconds = 1): Refusal =>
  rpcRefusal(503, SERVER_ERROR, message, { ...id, headers: { 'retry-after': String(seconds) } })

type RefusedId = Pick<Parameters<typeof rpcRefusal>[3] & object, 'id' | 'idText'>

/** The session that a request names is unknown or has ended: the client has to initialize again. */
export const sessionNotFound = (id: RefusedId = {}): Refusal =>
  rpcRefusal(404, SESSION_NOT_FOUND, 'Session not found', id)

/** The limit of sessions, or the share of this caller, is reached and all of them are in use. */
export const allSessionsTaken = (id: RefusedId = {}): Refusal =>
  unavailable(
    'No session is free: one caller may hold at most as many as are still free. End those that you do not use (DELETE), or try again later',
    id,
    60,
  )

/** Refuses another user, or a request without the caller token. */
export const refuseCaller = (problem: CallerProblem): Refusal =>
  problem === 'stranger'
    ? rpcRefusal(
        403,
        INVALID_REQUEST,
        'Only the user who runs this proxy may call it; this connection belongs to another user',
      )
    : rpcRefusal(401, INVALID_REQUEST, 'The header Keelson-Caller-Token is missing or wrong', {
        headers: { 'www-authenticate': 'Keelson-Caller-Token' },
      })

export const textRefusal = (status: number, text: string): Refusal =>
  new Refusal(status, { type: 'text/plain; charset=utf-8', body: Buffer.from(`${text}\n`) })

/** The client closed its connection in the middle of its request: no response can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
  constructor() {
    super('the client closed the connection')
  }
}
