import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw } from '../../../src/lib/raw-json.ts'
import { STATELESS_ERRORS } from '../../../src/net/rpc-error-codes.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'
import { revision20260728 } from '../revisions/index.ts'
import type { SendLegacy } from './legacy-requests.ts'
import { linesIn } from './response-lines.ts'

const ASK_TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
const HEADERS = { 'mcp-protocol-version': revision20260728.version, 'mcp-method': 'server/discover' }

/**
 * Asks an HTTP server whether it serves requests of MCP 2026-07-28, with the credentials of a client. Undefined when
 * it does not say: it wants other credentials, or cannot be reached.
 */
export async function servesStateless(send: SendLegacy, exchange: Exchange): Promise<boolean | undefined> {
  const signal = AbortSignal.any([exchange.signal, AbortSignal.timeout(ASK_TIMEOUT_MS)])
  try {
    const body = revision20260728.probe
    const response = await send(exchange, { method: 'POST', headers: HEADERS, body, signal })
    const { statusCode } = response
    if (statusCode === 401 || statusCode === 403 || statusCode === 429 || statusCode >= 500) {
      await response.body.dump()
      return undefined
    }
    for await (const { text } of linesIn(response, { maxBytes: MAX_BYTES })) {
      const isModern = text === undefined ? undefined : judge(text)
      if (isModern !== undefined) return isModern
    }
    return false
  } catch {
    return undefined
  }
}

/** Undefined for what is not a response. */
function judge(text: string): boolean | undefined {
  const message = readMessage(text)
  if (message?.kind !== 'response') return undefined
  const { result, error } = message
  const value = parseRaw(text.slice((result ?? error)?.start, (result ?? error)?.end))
  if (!isObject(value)) return false
  return result ? Array.isArray(value.supportedVersions) : STATELESS_ERRORS.has(value.code)
}
