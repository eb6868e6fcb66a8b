import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isEventStream } from '../../../src/net/sse.ts'
import type { Session } from '../http-sessions.ts'
import { publicBaseOf } from '../public-base.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { ownerOf } from '../session-owner.ts'
import type { OwnTasks } from '../tasks/guard-tasks.ts'
import type { ConnectedServer, ConnectedServers } from './connected-servers.ts'
import { createEndpointRewriter } from './endpoint-event.ts'
import { createEndpointMap } from './map-endpoint.ts'
import { followable, MAX_REDIRECTS } from './redirect.ts'
import type { Outgoing, Watch } from './relay-http.ts'
import { replacedHeaders } from './replaced-headers.ts'
import type { Transform } from './response-writer.ts'
import { isUnreadable } from './rewriting-writer.ts'
import type { SessionTracker } from './session-tracker.ts'

/** An exchange, and what is known about it when it is sent. */
export interface Delivery {
  readonly exchange: Exchange
  readonly server: ConnectedServer
  readonly session: Session | undefined
  readonly stripSession: boolean
  readonly body: Buffer | Readable | null
  /** How the response is changed; undefined: it passes as bytes. */
  readonly rewriting: Rewriting | undefined
  /** Where callers log in: changes responses that may speak of tasks of others. */
  readonly ownTasks: OwnTasks | undefined
  /** Set for a request that begins a session, if the era of the server is not known yet. */
  readonly opening: Opening | undefined
}

/** Learns the era of the server from its response to a request that begins a session. */
export interface Opening {
  /** Called in place of a response, where the server refuses the request as one that it does not know. */
  withhold(): void
  /** Called with the head of a response to `initialize`. Returns what changes its bytes; `change` has to be applied too. */
  watch(headers: IncomingHttpHeaders, change: Transform | undefined): Transform | undefined
}

/** One try to send an exchange; another follows a redirect, or a session that was opened again. */
export interface Attempt {
  readonly delivery: Delivery
  readonly outgoing: Outgoing
  readonly redirects: number
  readonly reopened: boolean
  /** The server has refused the credentials of the attempt before. */
  readonly refused: boolean
  /** How many attempts before met a connection that was closed. */
  readonly repeats?: number
}

/** What the response of an attempt brought, besides its bytes. */
export interface Seen {
  redirect?: { origin: string; path: string } | undefined
  /** Settles when the refusal has been dealt with. */
  refusal?: Promise<void> | undefined
  /** The client gets nothing of it. */
  withheld?: boolean
  /** It should be rewritten and cannot be read. */
  unreadable?: boolean
  /** The endpoint that the stream announced, as clients see it. */
  announced?: string
}

/** What the attempts of one sender share. */
export interface AttemptParts {
  readonly config: RunConfig
  /** Whether clients speak SSE, so that the endpoint of a stream is rewritten. */
  readonly sse: boolean
  readonly servers: ConnectedServers
  readonly tracker: SessionTracker
}

/** Decides what of the response to an attempt goes on to the client, and notes the rest in `seen`. */
export function watchAttempt(
  { delivery, outgoing, redirects, reopened, refused }: Attempt,
  seen: Seen,
  { config, sse, servers, tracker }: AttemptParts,
): Watch {
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
      seen.withheld = delivery.opening !== undefined && NOT_SERVED.has(status)
      if (seen.withheld) return true
      const sent = { session, owner: ownerOf(exchange), server, outgoing }
      if (replayable && !reopened && tracker.isLost(sent, status)) return true
      tracker.learn(sent, status, headers)
      seen.unreadable = delivery.rewriting?.isNeeded() === true && isUnreadable(status, headers)
      return seen.unreadable
    },
    replace: headers => replacedHeaders(headers, session, target),
    transform(status, headers) {
      const { opening, ownTasks } = delivery
      const ofTasks = sse ? undefined : ownTasks?.(headers)
      if (opening && status === 200 && outgoing.method === 'POST') return opening.watch(headers, ofTasks)
      if (ofTasks) return ofTasks
      if (!sse || status !== 200 || outgoing.method !== 'GET' || !isPlainEventStream(headers)) {
        return undefined
      }
      const map = createEndpointMap(target, publicBaseOf(exchange.request, config))
      return createEndpointRewriter(endpoint => {
        seen.announced = map(endpoint)
        servers.addEndpoint(seen.announced, {
          server,
          owner: ownerOf(exchange),
          stream: delivery.rewriting,
        })
        return seen.announced
      })
    },
  }
}

/** Statuses of a server that does not know a request: RFC 9110, and streamable HTTP of MCP 2026-07-28. */
const NOT_SERVED: ReadonlySet<number> = new Set([400, 404, 405, 422, 501])

const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

const isPlainEventStream = (headers: IncomingHttpHeaders): boolean =>
  isEventStream(headers['content-type']) &&
  (headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity')
