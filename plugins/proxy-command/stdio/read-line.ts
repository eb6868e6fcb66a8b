import { isUtf8 } from 'node:buffer'
import { arrayElements, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, type Message, readMessage } from '../../../src/net/rpc-message.ts'

/** A line of the client: its message, or the error response to a line that is not exactly one message. */
export function readLine(line: string): Message | { readonly kind: 'wrong'; readonly response: string } {
  const wrong = (code: number, message: string) =>
    ({ kind: 'wrong', response: errorText(undefined, code, message) }) as const
  if (!isUtf8(Buffer.from(line, 'latin1'))) return wrong(PARSE_ERROR, 'The line is not UTF-8')
  const message = readMessage(line)
  if (message) return message
  if (arrayElements(line)) return wrong(INVALID_REQUEST, 'Batches are not supported: send one message a line')
  if (!topLevelMembers(line)) return wrong(PARSE_ERROR, 'The line is not a JSON object')
  return wrong(INVALID_REQUEST, 'The line is not a JSON-RPC message')
}
