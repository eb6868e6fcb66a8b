import { memberValue } from '../../../src/lib/raw-json.ts'
import { type Request, readMessage } from '../../../src/net/rpc-message.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { errorBody, type LoginWanted, loginWanted } from '../translated-http/response-lines.ts'

/** What a server says that does not serve a request. */
export interface ServerRefusal {
  /** Its JSON-RPC error as a response to the request, raw; undefined where it sent none. */
  readonly error: string | undefined
  readonly code: unknown
  /** The whole of it where the server wants other credentials. */
  readonly wanted: LoginWanted | undefined
}

/** Reads a response with the status of an error. An error without an id is about the request: nothing else was sent. */
export async function readRefusal(response: ServerResponse, { idText }: Request): Promise<ServerRefusal> {
  const body = await errorBody(response)
  const wanted = loginWanted(response, body)
  const message = readMessage(body)
  const isOther = message?.kind === 'response' && message.idText !== undefined && message.idText !== idText
  if (message?.kind !== 'response' || !message.error || isOther) {
    return { error: undefined, code: undefined, wanted }
  }
  const text = body.slice(message.error.start, message.error.end)
  return {
    error: `{"jsonrpc":"2.0","id":${idText},"error":${text}}`,
    code: memberValue(text, 'code'),
    wanted,
  }
}
