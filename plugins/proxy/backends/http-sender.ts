import type { Dispatcher } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import { requestHeaders } from '../headers.ts'
import type { Sessions } from '../http-sessions.ts'
import { announcedLength } from '../request-body.ts'
import { Refusal, sessionNotFound, unavailable } from '../request-refusal.ts'
import { effectiveMode } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import { cancelCall } from './cancel-call.ts'
import { isClosedConnection, isRepeatable, MOST_REPEATS } from './closed-connection.ts'
import type { ConnectedServers } from './connected-servers.ts'
import { endStream } from './end-stream.ts'
import { CallTooLong, toGatewayError } from './gateway-error.ts'
import { type Outgoing, relay } from './relay-http.ts'
import type { SessionTracker } from './session-tracker.ts'
import { signed } from './signed.ts'
import { type Attempt, type Delivery, type Seen, watchAttempt } from './watch-attempt.ts'

const AGAIN = 'The server wanted other credentials, which there are now. Send the request again.'

/** The headers of a request to the server, names and values in turn. */
function headersFor(
  { exchange, server: { target }, session, stripSession, body, rewriting, ownTasks, opening }: Delivery,
  { remote, trust, sse }: { remote: boolean; trust: boolean; sse: boolean },
): string[] {
  const { request, ownHeaders, caller } = exchange
  const isRead = rewriting ?? ownTasks ?? opening
  const changed = session && session.backendId !== session.id ? session.backendId : undefined
  const headers = requestHeaders(request, {
    targetHost: target.host,
    targetScheme: target.scheme,
    remote,
    trust,
    identity: isRead !== undefined || (sse && request.method === 'GET'),
    // Without a session nothing says whose the events are that the client wants to have again.
    forgetEvents: request.method === 'GET' && (session?.eventsLost ?? caller !== undefined),
    session: stripSession ? null : changed,
    own: ownHeaders,
  })
  const length = body && !Buffer.isBuffer(body) ? announcedLength(request) : undefined
  if (length !== undefined) headers.push('content-length', String(length))
  if (rewriting) headers.push('accept-encoding', 'identity')
  return headers
}

/** Whether a request may be sent again, because it met a connection that the server had closed. */
const isLostRequest = async (
  { delivery: { exchange, body }, repeats = 0 }: Attempt,
  error: unknown,
): Promise<boolean> =>
  repeats < MOST_REPEATS &&
  isClosedConnection(error) &&
  !exchange.response.headersSent &&
  Buffer.isBuffer(body) &&
  isRepeatable(await exchange.message().catch(() => undefined))

/** Sends exchanges to a server and passes the responses on. */
export function createHttpSender(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  sessions: Sessions
  remote: boolean
  headersTimeoutMs: number
  servers: ConnectedServers
  tracker: SessionTracker
}): (delivery: Delivery) => Promise<void> {
  const { config, log, agent, sessions, remote, headersTimeoutMs, servers, tracker } = options
  const sse = effectiveMode(config) === 'sse'
  const rules = { remote, sse, trust: config.trust_proxy_headers === true }

  async function attempt(current: Attempt): Promise<void> {
    const { delivery, outgoing } = current
    const { exchange, session, server, rewriting } = delivery
    const { sign } = exchange
    const seen: Seen = {}
    const outcome = await relay(agent, sign ? await signed(outgoing, sign) : outgoing, {
      response: exchange.response,
      watch: watchAttempt(current, seen, { config, sse, servers, tracker }),
      rewriting,
      headersTimeoutMs,
      running: outgoing.method === 'GET' ? server.streams : server.calls,
      deadline: exchange.deadline,
    })
    if (seen.announced !== undefined) servers.removeEndpoint(seen.announced, server)
    if (outcome.kind === 'done') return
    if (outcome.kind === 'failed') {
      if (await isLostRequest(current, outcome.error))
        return attempt({ ...current, repeats: (current.repeats ?? 0) + 1 })
      const id = exchange.buffered ? await requestId(exchange) : undefined
      const error = toGatewayError(outcome.error, id)
      log.debug('the server did not respond in full', { error: String(outcome.error) })
      const isLate = outcome.error instanceof CallTooLong
      if (isLate) void cancelCall(agent, outgoing, { sign, reason: 'the call took too long' })
      await outcome.stream?.written
      if (outcome.stream && endStream(exchange, error, { id, stream: outcome.stream, remote, isLate })) return
      throw error
    }
    if (seen.redirect) {
      // undici writes `host` from the headers, and a redirect stays on its host.
      const redirected = { ...outgoing, ...seen.redirect }
      return attempt({ ...current, outgoing: redirected, redirects: current.redirects + 1 })
    }
    if (seen.refusal) {
      await seen.refusal
      const { body } = outgoing
      if (current.refused || (body !== null && !Buffer.isBuffer(body))) throw unavailable(AGAIN, {}, 1)
      return attempt({
        ...current,
        outgoing: { ...outgoing, headers: headersFor(delivery, rules) },
        refused: true,
      })
    }
    if (seen.withheld) return delivery.opening?.withhold()
    if (seen.unreadable && rewriting) {
      const body = Buffer.from(rewriting.unreadable('it is compressed'), 'latin1')
      throw new Refusal(502, { type: 'application/json', body })
    }
    if (!session || !(await tracker.openAgain(session, { ...outgoing, sign }, server.epoch))) {
      if (session) sessions.delete(session.id)
      throw sessionNotFound({ id: await requestId(exchange) })
    }
    return attempt({
      ...current,
      outgoing: { ...outgoing, headers: headersFor(delivery, rules) },
      reopened: true,
    })
  }

  return delivery => {
    const { exchange, server, body } = delivery
    const outgoing: Outgoing = {
      origin: server.target.origin,
      path: server.target.pathFor(exchange.url),
      method: exchange.request.method ?? 'GET',
      headers: headersFor(delivery, rules),
      body,
    }
    return attempt({ delivery, outgoing, redirects: 0, reopened: false, refused: false })
  }
}
