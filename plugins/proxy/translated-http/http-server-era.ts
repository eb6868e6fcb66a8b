import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw } from '../../../src/lib/raw-json.ts'
import {
  METHOD_NOT_FOUND,
  NO_HANDSHAKE,
  STATELESS_ERRORS,
  UNSUPPORTED_VERSION,
} from '../../../src/net/rpc-error-codes.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'
import { isStatelessError } from '../../../src/net/stateless-error.ts'
import { revision20251125, revision20260728 } from '../revisions/index.ts'
import type { ServerResponse } from './dispatch.ts'
import { linesIn } from './response-lines.ts'
import type { SendForCaller } from './send-for-caller.ts'

const ASK_TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
const DISCOVER_HEADERS = {
  'mcp-protocol-version': revision20260728.version,
  'mcp-method': 'server/discover',
}

/** What an HTTP server seems to speak. */
export interface Finding {
  /** Whether it serves the era; undefined when it does not say: it wants other credentials, or cannot be reached. */
  readonly serves: boolean | undefined
  /** Whether that holds for every client. If not, it may be due to a header of the client that asked. */
  readonly isSure: boolean
}

/** What a JSON-RPC response shows. */
type Judge = (response: { result?: Record<string, unknown>; error?: { code?: unknown } }) => Finding

/** Errors with which a legacy server refuses `server/discover` for every client. */
const SAYS_NO: ReadonlySet<unknown> = new Set([METHOD_NOT_FOUND, UNSUPPORTED_VERSION])

/** Asks an HTTP server whether it serves requests of MCP 2026-07-28, with the credentials of a client. */
export const servesStateless = (send: SendForCaller, exchange: Exchange): Promise<Finding> =>
  ask(send, exchange, {
    body: revision20260728.probe,
    headers: DISCOVER_HEADERS,
    judge({ result, error = {} }) {
      const serves = result ? Array.isArray(result.supportedVersions) : isStatelessError(error)
      return { serves, isSure: serves || result !== undefined || SAYS_NO.has(error.code) }
    },
  })

/** The same for sessions: whether it has `initialize`. Where it has, that opens a session, which is ended at once. */
export const servesSessions = (send: SendForCaller, exchange: Exchange): Promise<Finding> =>
  ask(send, exchange, {
    body: revision20251125.probe,
    headers: {},
    judge({ result, error: { code } = {} }) {
      const serves = !NO_HANDSHAKE.has(code) && !STATELESS_ERRORS.has(code)
      return { serves, isSure: !serves || result !== undefined }
    },
  })

const END_SESSION_MS = 1000

/** Ends the session that the question has opened, which nobody uses. */
async function endSession(
  send: SendForCaller,
  exchange: Exchange,
  { headers }: Pick<ServerResponse, 'headers'>,
): Promise<void> {
  const id = headers['mcp-session-id']
  if (typeof id !== 'string') return
  const named = { 'mcp-session-id': id, 'mcp-protocol-version': revision20251125.version }
  const signal = AbortSignal.timeout(END_SESSION_MS)
  // A server that does not end the session is left alone.
  await send(exchange, { method: 'DELETE', headers: named, signal }).then(
    ({ body }) => body.dump(),
    () => undefined,
  )
}

const UNKNOWN: Finding = { serves: undefined, isSure: false }

async function ask(
  send: SendForCaller,
  exchange: Exchange,
  { body, headers, judge }: { body: Buffer; headers: Readonly<Record<string, string>>; judge: Judge },
): Promise<Finding> {
  const signal = AbortSignal.any([exchange.signal, AbortSignal.timeout(ASK_TIMEOUT_MS)])
  try {
    const response = await send(exchange, { method: 'POST', headers, body, signal, isRepeatable: true })
    void endSession(send, exchange, response)
    const { statusCode } = response
    if (statusCode === 401 || statusCode === 403 || statusCode === 429 || statusCode >= 500) {
      await response.body.dump()
      return UNKNOWN
    }
    for await (const { text } of linesIn(response, { maxBytes: MAX_BYTES })) {
      const message = text === undefined ? undefined : readMessage(text)
      if (message?.kind !== 'response') continue
      const { result, error } = message
      const value = parseRaw(message.text.slice((result ?? error)?.start, (result ?? error)?.end))
      if (!isObject(value)) break
      return judge(result ? { result: value } : { error: value })
    }
    return { serves: false, isSure: false }
  } catch {
    return UNKNOWN
  }
}
