import type { CallerProblem } from '../../src/http/callers.ts'
import type { RequestId } from '../../src/lib/json-rpc.ts'
import { errorResponse } from '../../src/lib/json-rpc.ts'

/** A request that the proxy answers itself, thrown from wherever that is found out. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    content: { type: string; body: string },
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(content.body)
    this.status = status
    this.contentType = content.type
    this.body = content.body
    this.headers = headers
  }
}

/** A refusal that carries a JSON-RPC error; the id is left out where it is not known. */
export const rpcRefusal = (
  status: number,
  code: number,
  message: string,
  { id, headers }: { id?: RequestId | undefined; headers?: Readonly<Record<string, string>> } = {},
): Refusal =>
  new Refusal(status, { type: 'application/json', body: errorResponse(code, message, id) }, headers)

/** Refuses another user, or a request without the caller token. */
export const refuseCaller = (problem: CallerProblem): Refusal =>
  problem === 'stranger'
    ? rpcRefusal(
        403,
        -32600,
        'Only the user who runs this proxy may call it; this connection belongs to another user',
      )
    : rpcRefusal(401, -32600, 'The header Keelson-Caller-Token is missing or wrong', {
        headers: { 'www-authenticate': 'Keelson-Caller-Token' },
      })

export const textRefusal = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal => new Refusal(status, { type: 'text/plain; charset=utf-8', body: `${text}\n` }, headers)

/** The client went away in the middle of its request: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
  constructor() {
    super('the client closed the connection')
  }
}
