import type { IncomingMessage } from 'node:http'
import { arrayElements } from '../../../../src/lib/raw-json.ts'
import { INVALID_REQUEST } from '../../../../src/net/rpc-error-codes.ts'
import { idKey, type Message, readMessage } from '../../../../src/net/rpc-message.ts'
import { rpcRefusal } from '../../request-refusal.ts'
import { modernVersion } from './mcp-headers.ts'

/** The most messages of one batch. */
const MAX_MESSAGES = 100

const refusal = (problem: string) => rpcRefusal(400, INVALID_REQUEST, problem)

/** Whether a body is a batch, if it is JSON. */
export const isBatch = (text: string): boolean => /^[ \t\r\n]*\[/.test(text)

/**
 * The messages of a batch (MCP 2025-03-26, basic). A batch is refused as a whole, before anything of it is sent, if any
 * of it cannot be taken.
 */
export function readBatch(request: IncomingMessage, text: string): readonly Message[] {
  const texts = arrayElements(text, MAX_MESSAGES)
  if (!texts) throw refusal(`The body is not an array of at most ${MAX_MESSAGES} messages`)
  if (texts.length === 0) throw refusal('The batch is empty')
  const ids = new Set<string>()
  return texts.map((text, index) => {
    const message = readMessage(text)
    const refuse = (problem: string) => refusal(`Message ${index + 1} of the batch ${problem}`)
    if (!message) throw refuse('is not a JSON-RPC message')
    if (modernVersion(request, message) !== undefined) throw refuse('is of a revision without batches')
    if (message.kind !== 'request') return message
    if (message.method === 'initialize') throw refuse('is initialize, which has to come alone')
    const key = idKey(message.idText)
    if (ids.has(key)) throw refuse('has the id of another one')
    ids.add(key)
    return message
  })
}
