import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import { isEventStream } from '../../../src/net/sse.ts'
import { requestHeaders } from '../headers.ts'
import type { Session, Sessions } from '../http-sessions.ts'
import { publicBaseOf } from '../public-base.ts'
import { announcedLength } from '../request-body.ts'
import { sessionNotFound, unavailable } from '../request-refusal.ts'
import { effectiveMode } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import type { ConnectedServer, ConnectedServers } from './connected-servers.ts'
import { endStream } from './end-stream.ts'
import { createEndpointRewriter } from './endpoint-event.ts'
import { toGatewayError } from './gateway-error.ts'
import { createEndpointMap } from './map-endpoint.ts'
import { followable, MAX_REDIRECTS } from './redirect.ts'
import { type Outgoing, relay, type Watch } from './relay-http.ts'
import { replacedHeaders } from './replaced-headers.ts'
import type { SessionTracker } from './session-tracker.ts'

const AGAIN = 'The server wanted other credentials, which there are now. Send the request again.'

/** An exchange, and what is known about it when it is sent. */
export interface Delivery {
  readonly exchange: Exchange
  readonly server: ConnectedServer
  readonly session: Session | undefined
  readonly stripSession: boolean
  readonly body: Buffer | Readable | null
}

/** One try to send an exchange; another follows a redirect, or a session that was opened again. */
interface Attempt {
  readonly delivery: Delivery
  readonly outgoing: Outgoing
  readonly redirects: number
  readonly reopened: boolean
  /** The server has refused the credentials of the attempt before. */
  readonly refused: boolean
}

/** What the response of an attempt brought, besides its bytes. */
interface Seen {
  redirect?: { origin: string; path: string } | undefined
  /** Settles when the refusal has been dealt with. */
  refusal?: Promise<void> | undefined
  /** The endpoint that the stream announced, as clients see it. */
  announced?: string
}

/** The headers of a request to the server, names and values in turn. */
function headersFor(
  { exchange: { request, ownHeaders }, server: { target }, session, stripSession, body }: Delivery,
  { remote, trust, sse }: { remote: boolean; trust: boolean; sse: boolean },
): string[] {
  const changed = session && session.backendId !== session.id ? session.backendId : undefined
  const headers = requestHeaders(request, {
    targetHost: target.host,
    targetScheme: target.scheme,
    remote,
    trust,
    identity: sse && request.method === 'GET',
    forgetEvents: session?.eventsLost === true && request.method === 'GET',
    session: stripSession ? null : changed,
    own: ownHeaders,
  })
  const length = body && !Buffer.isBuffer(body) ? announcedLength(request) : undefined
  if (length !== undefined) headers.push('content-length', String(length))
  return headers
}

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

  function watchFor({ delivery, outgoing, redirects, reopened, refused }: Attempt, seen: Seen): Watch {
    const { exchange, session, server } = delivery
    const { target } = server
    const replayable = outgoing.body === null || Buffer.isBuffer(outgoing.body)
    return {
      take(status, headers) {
        if (status >= 300 && status < 400 && replayable && redirects < MAX_REDIRECTS) {
          seen.redirect = followable(status, headers, outgoing)
          if (seen.redirect) return true
        }
        if ((status === 401 || status === 403) && exchange.onRefused) {
          seen.refusal = exchange.onRefused({
            status,
            wwwAuthenticate: joined(headers['www-authenticate']),
            again: refused,
          })
          seen.refusal?.catch(() => undefined) // it is awaited when the response has been taken
          if (seen.refusal) return true
        }
        const sent = { session, server, outgoing }
        if (replayable && !reopened && tracker.isLost(sent, status)) return true
        tracker.learn(sent, status, headers)
        return false
      },
      replace: headers => replacedHeaders(headers, session, target),
      transform(status, headers) {
        if (!sse || status !== 200 || outgoing.method !== 'GET' || !isPlainEventStream(headers)) {
          return undefined
        }
        const map = createEndpointMap(target, publicBaseOf(exchange.request, config))
        return createEndpointRewriter(endpoint => {
          seen.announced = map(endpoint)
          servers.addEndpoint(seen.announced, server)
          return seen.announced
        })
      },
    }
  }

  async function attempt(current: Attempt): Promise<void> {
    const { delivery, outgoing } = current
    const { exchange, session, server } = delivery
    const seen: Seen = {}
    const outcome = await relay(agent, outgoing, {
      response: exchange.response,
      watch: watchFor(current, seen),
      headersTimeoutMs,
      running: outgoing.method === 'GET' ? server.streams : server.calls,
    })
    if (seen.announced !== undefined) servers.removeEndpoint(seen.announced, server)
    if (outcome.kind === 'done') return
    if (outcome.kind === 'failed') {
      const id = exchange.buffered ? await requestId(exchange) : undefined
      const error = toGatewayError(outcome.error, id)
      log.debug('the server did not respond in full', { error: String(outcome.error) })
      if (outcome.stream && endStream(exchange, error, { id, stream: outcome.stream, remote })) return
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
    if (!session || !(await tracker.openAgain(session, outgoing, server.epoch))) {
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

const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

const isPlainEventStream = (headers: IncomingHttpHeaders): boolean =>
  isEventStream(headers['content-type']) &&
  (headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity')
