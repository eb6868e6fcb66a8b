import type { Exchange } from '../../src/contracts/pipeline.ts'
import { arrayElements, parseRaw } from '../../src/lib/raw-json.ts'
import { isMessage } from '../../src/net/json-rpc.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { readMessage } from '../../src/net/rpc-message.ts'
import { hasBody, rpcRefusal } from '../proxy/index.ts'

/** A call of a tool in the body of a request. */
export interface CountedCall {
  /** The tool, by the name that the server knows; undefined where the call names none. */
  readonly tool: string | undefined
}

const CALL = 'tools/call'

/**
 * The calls of tools that a request makes. A body that is neither a message nor a batch is refused (400): a server
 * that reads it more leniently would take a call that nobody counts.
 */
export async function countedCalls(exchange: Exchange): Promise<readonly CountedCall[]> {
  if (!hasBody(exchange.request)) return []
  const message = await exchange.message()
  if (message) return toCalls(message)
  const text = await exchange.rawText()
  if (text === '') return []
  const elements = text === undefined ? undefined : arrayElements(text)
  if (!elements?.length) throw notMessage()
  return elements.flatMap(element => toCalls(parseRaw(element)))
}

const notMessage = () => rpcRefusal(400, INVALID_REQUEST, 'The body is not a JSON-RPC message')

function toCalls(value: unknown): readonly CountedCall[] {
  if (!isMessage(value)) throw notMessage()
  if (!('method' in value) || value.method !== CALL) return []
  const params: unknown = value.params
  if (typeof params !== 'object' || params === null) return [{ tool: undefined }]
  return [{ tool: 'name' in params && typeof params.name === 'string' ? params.name : undefined }]
}

/** The id of the one message in the body, in raw text as the client wrote it; a batch has none. */
export async function idTextOf(exchange: Exchange): Promise<string | undefined> {
  const message = readMessage((await exchange.rawText()) ?? '')
  return message?.kind === 'request' ? message.idText : undefined
}
