import type { IncomingMessage } from 'node:http'
import type { Candidate, ClientInstanceFactory, Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import type { Protocol } from '../../../src/contracts/workload.ts'
import type { Log } from '../../../src/log.ts'
import type { Availability } from '../availability.ts'
import { isOverSse } from '../http-sse.ts'
import type { AskOwn } from '../own/list-tools.ts'
import { accept, respond } from '../respond.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { processLimitsOf, saidProtocol } from '../section.ts'
import { type BridgeLimits, DEFAULT_LIMITS } from './bridge-limits.ts'
import type { BridgedServer } from './bridged-server.ts'
import { createHttpTransports } from './http/http-transports.ts'
import { sseSession, sseSessionId } from './http/sse-transport.ts'
import { createMessageRouter } from './message-router.ts'
import { createServerChoice } from './processes/choose-server.ts'
import type { OwnRouterOptions } from './processes/client-server.ts'
import { createClientServers } from './processes/client-servers.ts'
import { createAskOwn } from './server/ask-own.ts'
import { createStreamLink } from './server/stream-link.ts'

export type { BridgeLimits } from './bridge-limits.ts'

/** Connects any number of HTTP clients to one stdio server. */
export interface Bridge {
  /** Responds to one request on any of the MCP paths. */
  handle(exchange: Exchange, rewriting?: Rewriting): Promise<void>
  /** Responds to a message in place of the server: over HTTP+SSE on the event stream of its client. */
  respond(exchange: Exchange, text: string): void
  /** Sends requests of the proxy itself to the server. */
  readonly askOwn: AskOwn
  /** Sends a notification to all sessions. */
  notify(text: string): void
  /**
   * Connects a (new) server process to the same sessions. A restarted process is initialised as the one before
   * was, its subscriptions and log level are set again, then waiting requests go on; that happens after this
   * resolves.
   */
  connect(attachment: Attachment, options?: { spawn?: ClientInstanceFactory | undefined }): Promise<void>
  /**
   * As `Proxy.checkCandidate`; sessions go on with the new process as after `connect`. Those with a process of their
   * own end when it has responded.
   */
  checkCandidate(
    attachment: Attachment,
    options: { timeoutMs: number; signal: AbortSignal; spawn?: ClientInstanceFactory | undefined },
  ): Promise<Candidate>
  /** As `Proxy.ready`. Pending while no process is connected. */
  ready(options: { timeoutMs: number; signal: AbortSignal; ping: boolean }): Promise<void>
  /** Called when the process has gone. Requests in flight get an error; new ones wait a moment, then get 503. */
  disconnect(reason: string): void
  /** As `Proxy.protocol`. */
  readonly protocol: Protocol | undefined
  health(): { status: 'healthy' | 'degraded' | 'unhealthy'; error?: string }
  /** The processes of single clients; undefined where all clients share one. */
  readonly processes: { readonly clients: number; readonly spare: number } | undefined
  /** Ends what was idle for too long, where nothing else does. */
  sweep(): void
  /** Ends all sessions and the connection to the process. */
  close(): Promise<void>
}

/**
 * Creates the bridge of one workload.
 *
 * @param options.limits other limits than the default ones, e.g. the request time-out of a user
 * @param options.now the clock, in milliseconds since the epoch
 */
export function createBridge(options: {
  config: RunConfig
  log: Log
  sessionTtlMs: number
  /** Origin and prefix under which clients reach us, for the `endpoint` event of the SSE transport. */
  publicBase: (request: IncomingMessage) => string
  /** Whether a server is connected; the bridge sets it. */
  availability: Availability
  limits: Partial<BridgeLimits> & Pick<BridgeLimits, 'requestTimeoutMs'>
  /** Called when `protocol` has changed. */
  onProtocol?: () => void
  /** Called when `processes.clients` has changed. */
  onProcesses?: () => void
  now?: () => number
}): Bridge {
  const {
    config,
    log,
    sessionTtlMs,
    publicBase,
    availability,
    onProtocol = () => {},
    onProcesses = () => {},
    now = Date.now,
  } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const overSse = (exchange: Exchange) => isOverSse(config, exchange)

  function open({ maxSessions = limits.maxSessions, ...own }: Partial<OwnRouterOptions>): BridgedServer {
    const router = createMessageRouter({
      name: config.name,
      limits: { ...limits, maxSessions },
      log,
      ttlMs: sessionTtlMs,
      now,
      availability,
      trustsProxy: config.trust_proxy_headers,
      protocol: saidProtocol(config),
      onProtocol,
      ...own,
    })
    return { router, handle: createHttpTransports(router, { isOverSse: overSse, publicBase }) }
  }

  const shared = open({})
  const { router } = shared
  const { sessions: mode = 'shared' } = config
  const clients =
    mode === 'shared'
      ? undefined
      : createClientServers({
          limits: processLimitsOf(config),
          reclaimAfterMs: limits.reclaimAfterMs,
          idleMs: sessionTtlMs,
          now,
          log,
          open,
          onChange: onProcesses,
        })
  return {
    handle:
      clients && mode !== 'shared' ? createServerChoice({ mode, shared, clients }, overSse) : shared.handle,
    respond(exchange, text) {
      if (!overSse(exchange)) return respond(exchange, text)
      const own = clients?.ofSession(sseSessionId(exchange) ?? '')
      sseSession((own ?? shared).router, exchange).outbox.send(text)
      accept(exchange)
    },
    askOwn: createAskOwn(router),
    notify(text) {
      for (const one of [shared, ...(clients?.all() ?? [])]) one.router.notify(text)
    },
    async connect(attachment, { spawn } = {}) {
      router.server.connect(createStreamLink(attachment))
      clients?.use(spawn)
    },
    async checkCandidate(attachment, { spawn, ...options }) {
      const candidate = await router.server.checkCandidate(attachment, options)
      return {
        ...candidate,
        async promote(patience) {
          await Promise.all([candidate.promote(patience), clients?.replace(spawn, patience)])
        },
      }
    },
    ready: options => router.server.ready(options),
    disconnect: reason => router.server.disconnect(reason),
    get protocol() {
      return router.eras.protocol
    },
    health() {
      if (router.problem !== undefined) return { status: 'unhealthy', error: router.problem }
      if (router.queued > router.limits.maxQueuedBytes / 2)
        return { status: 'degraded', error: 'the server does not read' }
      return { status: 'healthy' }
    },
    get processes() {
      return clients?.size
    },
    sweep: () => clients?.sweep(),
    async close() {
      router.close()
      await clients?.close('the proxy is closing')
    },
  }
}
