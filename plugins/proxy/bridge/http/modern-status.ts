import { memberValue } from '../../../../src/lib/raw-json.ts'
import {
  HEADER_MISMATCH,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  UNSUPPORTED_VERSION,
} from '../../../../src/net/rpc-error-codes.ts'
import { readMessage } from '../../../../src/net/rpc-message.ts'

/** The statuses that MCP 2026-07-28 requires for errors (streamable HTTP; basic: error codes). */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  [METHOD_NOT_FOUND, 404],
  [HEADER_MISMATCH, 400],
  [MISSING_CAPABILITY, 400],
  [UNSUPPORTED_VERSION, 400],
])

/** The HTTP status of a response to a client of MCP 2026-07-28. */
export function modernStatus(text: string): number {
  if (!text.includes('-32')) return 200
  const message = readMessage(text)
  const span = message?.kind === 'response' ? message.error : undefined
  if (!span) return 200
  return STATUSES.get(memberValue(text.slice(span.start, span.end), 'code')) ?? 200
}
