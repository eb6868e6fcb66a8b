import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import type { Sessions } from '../http-sessions.ts'
import { isOverSse } from '../http-sse.ts'
import { announcedLength, type BodyRules, hasBody, SMALL_BODY_BYTES, streamBody } from '../request-body.ts'
import { sessionNotFound } from '../request-refusal.ts'
import { accept, respond } from '../respond.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { effectiveMode } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import { ownerOf } from '../session-owner.ts'
import { guardTasks } from '../tasks/guard-tasks.ts'
import { createTaskOwners } from '../tasks/task-owners.ts'
import { createConnectedServers } from './connected-servers.ts'
import { admit } from './find-session.ts'
import { BackendGone, toGatewayError } from './gateway-error.ts'
import { createHttpSender } from './http-sender.ts'
import { createSessionTracker } from './session-tracker.ts'
import type { TargetPath } from './target-path.ts'
import type { Opening } from './watch-attempt.ts'

/** A server that speaks HTTP itself. */
export interface HttpBackend {
  /** Connects a server. Sessions of the one before are opened again when they are used. */
  connect(target: URL): void
  /**
   * Connects another server; requests in flight stay with the one before. Resolves when they have ended.
   * Streams without an end, and what takes longer than `graceMs` (milliseconds), are cut.
   */
  replace(target: URL, options: { graceMs: number; signal: AbortSignal }): Promise<void>
  /** Cuts what is in flight. */
  disconnect(reason: string): void
  readonly target: TargetPath | undefined
  /** @param options.opening as of `Delivery` */
  handle(exchange: Exchange, rewriting?: Rewriting, opening?: Opening): Promise<void>
  /** As of the forwarder. */
  respond(exchange: Exchange, text: string): void
}

/** Carries exchanges to a server that speaks HTTP itself, local or remote, without looking into them. */
export function createHttpBackend(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  sessions: Sessions
  remote: boolean
  headersTimeoutMs: number
  rules: BodyRules
}): HttpBackend {
  const { config, sessions, remote, rules } = options
  const sse = effectiveMode(config) === 'sse'
  const servers = createConnectedServers(config, { remote })
  const tasks = createTaskOwners()
  const send = createHttpSender({ ...options, servers, tracker: createSessionTracker(options) })
  /** The endpoint that a stream of SSE announces stands for a session. */
  const isForeignEndpoint = (exchange: Exchange): boolean =>
    sse && exchange.request.method === 'POST' && !servers.isEndpointOf(exchange.url, ownerOf(exchange))

  return {
    get target() {
      return servers.current?.target
    },
    connect: target => servers.connect(target),
    replace: (target, patience) => servers.replace(target, patience),
    disconnect: reason => servers.disconnect(reason),
    respond(exchange, text) {
      if (!isOverSse(config, exchange)) return respond(exchange, text)
      const send = servers.streamOf(exchange.url, ownerOf(exchange))?.send
      if (!send) throw sessionNotFound()
      send(text)
      accept(exchange)
    },
    async handle(exchange, rewriting, opening) {
      const owner = ownerOf(exchange)
      const ownTasks = owner === undefined ? undefined : await guardTasks(exchange, owner, tasks)
      const admission = admit(exchange, sessions)
      const { session, stripSession } = admission instanceof Promise ? await admission : admission
      const gathered = gatherBody(exchange, rules)
      const body = gathered instanceof Promise ? await gathered : gathered
      if (isForeignEndpoint(exchange)) throw sessionNotFound({ id: await requestId(exchange) })
      const server = servers.serverFor(exchange.url)
      if (!server) throw toGatewayError(new BackendGone('it was stopped'), await requestId(exchange))
      return send({ exchange, server, session, stripSession, body, rewriting, ownTasks, opening })
    },
  }
}

/** The body, buffered if it is small. Not async, as most requests need no waiting, or once. */
function gatherBody(exchange: Exchange, rules: BodyRules): Promise<Buffer> | Buffer | Readable | null {
  if (exchange.buffered) return exchange.buffered
  const { request } = exchange
  if (!hasBody(request)) return null
  const length = announcedLength(request)
  if (length !== undefined && length <= SMALL_BODY_BYTES) return exchange.body()
  return streamBody(request, rules)
}
