import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { isClosedConnection, MOST_REPEATS } from '../backends/closed-connection.ts'
import { BackendGone } from '../backends/gateway-error.ts'
import { followable, MAX_REDIRECTS } from '../backends/redirect.ts'
import { signed } from '../backends/signed.ts'
import type { TargetPath } from '../backends/target-path.ts'
import { requestHeaders } from '../headers.ts'
import { dispatch, type ServerResponse } from './dispatch.ts'
import type { TranslationOptions } from './translation-options.ts'

/** A request of the proxy to an HTTP server, in the name of the caller of an exchange. */
export interface CallerRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** As `exchange.url`; undefined: that of the exchange. */
  readonly url?: string
  /** In place of the caller's own, which describe a message of another era. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** The request may be sent again when its connection was closed before a response began. */
  readonly isRepeatable?: boolean
  readonly signal: AbortSignal
}

export type SendForCaller = (exchange: Exchange, request: CallerRequest) => Promise<ServerResponse>

/** The same with the credentials of one client. */
export type SendForClient = (request: CallerRequest) => Promise<ServerResponse>

const POST_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const GET_HEADERS = { accept: 'text/event-stream' }

/** Headers that describe the message of the client, which is not what is sent. */
const OF_THE_MESSAGE = /^(?:mcp-|content-|accept$|last-event-id$)/

/** Makes a function that sends requests with the credentials of a caller, as the pipeline has set them. */
export function createSendForCaller(options: Omit<TranslationOptions, 'log' | 'eras'>): SendForCaller {
  const { agent, config, remote, headersTimeoutMs } = options
  const trust = config.trust_proxy_headers === true

  async function once(
    exchange: Exchange,
    request: CallerRequest,
    { target, origin, path }: { target: TargetPath; origin: string; path: string },
  ): Promise<ServerResponse> {
    const { method, signal, body = null } = request
    const own = new Map(exchange.ownHeaders ?? [])
    for (const name of Object.keys(exchange.request.headers))
      if (OF_THE_MESSAGE.test(name)) own.set(name, undefined)
    const named = { ...(method === 'GET' ? GET_HEADERS : POST_HEADERS), ...request.headers }
    for (const [name, value] of Object.entries(named)) own.set(name, value)
    const headers = requestHeaders(exchange.request, {
      targetHost: target.host,
      targetScheme: target.scheme,
      ...{ remote, trust, own, identity: true, forgetEvents: true, session: null },
    })
    const outgoing = { origin, path, method, headers, body }
    const sent = exchange.sign ? await signed(outgoing, exchange.sign) : outgoing
    return dispatch(agent, { ...sent, method, headersTimeout: headersTimeoutMs, bodyTimeout: 0 }, signal)
  }

  return async (exchange, request) => {
    const target = options.target()
    if (!target) throw new BackendGone('it was stopped')
    let place = { origin: target.origin, path: target.pathFor(request.url ?? exchange.url) }
    let isAgain = false
    for (let redirects = 0; ; ) {
      const response = await sendOpen(() => once(exchange, request, { ...place, target }), request)
      const { statusCode, headers } = response
      const next = redirects < MAX_REDIRECTS ? followable(statusCode, headers, place) : undefined
      const isRefused = !isAgain && (statusCode === 401 || statusCode === 403)
      const renewed = isRefused ? refusal(exchange, response) : undefined
      if (!next && !renewed) return response
      await response.body.dump()
      if (next) {
        redirects += 1
        place = next
      } else {
        isAgain = true
        await renewed
      }
    }
  }
}

/** Sends on a connection that the server has not closed meanwhile, if the request may be sent again for that. */
async function sendOpen(
  send: () => Promise<ServerResponse>,
  { isRepeatable }: CallerRequest,
): Promise<ServerResponse> {
  for (let repeats = isRepeatable ? MOST_REPEATS : 0; repeats > 0; repeats -= 1) {
    try {
      return await send()
    } catch (error) {
      if (!isClosedConnection(error)) throw error
    }
  }
  return send()
}

/** What the credentials are renewed by; undefined where the response is for the client. */
function refusal(
  { onRefused }: Exchange,
  { statusCode, headers }: ServerResponse,
): Promise<void> | undefined {
  const challenge = headers['www-authenticate']
  return onRefused?.({
    status: statusCode as 401 | 403,
    wwwAuthenticate: Array.isArray(challenge) ? challenge.join(', ') : challenge,
    again: false,
  })
}
