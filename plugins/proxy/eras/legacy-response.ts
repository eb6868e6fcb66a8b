import { parseRaw, splice } from '../../../src/lib/raw-json.ts'
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  MISSING_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
} from '../../../src/net/rpc-error-codes.ts'
import { type Response, readMessage } from '../../../src/net/rpc-message.ts'

/** Codes of 2026-07-28 as older clients know them. What the proxy itself has set wrong is an internal error. */
const CODES: ReadonlyMap<unknown, number> = new Map([
  [HEADER_MISMATCH, INTERNAL_ERROR],
  [MISSING_CAPABILITY, INVALID_REQUEST],
  [UNSUPPORTED_VERSION, INTERNAL_ERROR],
])

/** A quick test, since most responses are results. The name may be written with escapes. */
const MAY_BE_ERROR = /"error"|\\u/

/** A response of a server of 2026-07-28 as older clients take it. Results stay: unknown members are allowed. */
export function toLegacyResponse(text: string, method: string): string {
  if (!MAY_BE_ERROR.test(text)) return text
  const message = readMessage(text)
  return message?.kind === 'response' && message.error ? withLegacyCode(message, method) : text
}

function withLegacyCode({ text, index, error }: Response, method: string): string {
  const span = index.find(error, ['code'])
  const code = span && parseRaw(text.slice(span.start, span.end))
  const isNotFound =
    method === 'resources/read' && code === INVALID_PARAMS && index.find(error, ['data', 'uri'])
  const legacy = isNotFound ? RESOURCE_NOT_FOUND : CODES.get(code)
  return legacy === undefined ? text : splice(text, [{ span, text: String(legacy) }])
}
