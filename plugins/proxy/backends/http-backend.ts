import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import type { Sessions } from '../http-sessions.ts'
import { announcedLength, type BodyRules, hasBody, SMALL_BODY_BYTES, streamBody } from '../request-body.ts'
import { requestId } from '../send-refusal.ts'
import { createConnectedServers } from './connected-servers.ts'
import { admit } from './find-session.ts'
import { BackendGone, toGatewayError } from './gateway-error.ts'
import { createHttpSender } from './http-sender.ts'
import { createSessionTracker } from './session-tracker.ts'
import type { TargetPath } from './target-path.ts'

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
  handle(exchange: Exchange): Promise<void>
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
  const servers = createConnectedServers(config, { remote })
  const send = createHttpSender({ ...options, servers, tracker: createSessionTracker(options) })
  return {
    get target() {
      return servers.current?.target
    },
    connect: target => servers.connect(target),
    replace: (target, patience) => servers.replace(target, patience),
    disconnect: reason => servers.disconnect(reason),
    async handle(exchange) {
      const admission = admit(exchange, sessions)
      const { session, stripSession } = admission instanceof Promise ? await admission : admission
      const gathered = gatherBody(exchange, rules)
      const body = gathered instanceof Promise ? await gathered : gathered
      const server = servers.serverFor(exchange.url)
      if (!server) throw toGatewayError(new BackendGone('it was stopped'), await requestId(exchange))
      return send({ exchange, server, session, stripSession, body })
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
