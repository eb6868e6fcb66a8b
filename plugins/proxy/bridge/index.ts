import type { IncomingMessage } from 'node:http'
import type { Candidate, Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import type { Protocol } from '../../../src/contracts/workload.ts'
import type { Log } from '../../../src/log.ts'
import type { Availability } from '../availability.ts'
import type { AskOwn } from '../own/list-tools.ts'
import { accept } from '../respond.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { createAskOwn } from './ask-own.ts'
import { type BridgeLimits, DEFAULT_LIMITS } from './bridge-limits.ts'
import { createMessageRouter } from './message-router.ts'
import { createSse, sseSession } from './sse-transport.ts'
import { createStreamableHttp } from './streamable-http-transport.ts'

export type { BridgeLimits } from './bridge-limits.ts'

/** Connects any number of HTTP clients to one stdio server. */
export interface Bridge {
  /** Responds to one request on any of the MCP paths. */
  handle(exchange: Exchange, rewriting?: Rewriting): Promise<void>
  /** Responds to a message of HTTP+SSE on the event stream of its client. */
  respondOnStream(exchange: Exchange, text: string): void
  /** Sends requests of the proxy itself to the server. */
  readonly askOwn: AskOwn
  /** Sends a notification to all sessions. */
  notify(text: string): void
  /**
   * Connects a (new) server process to the same sessions. A restarted process is initialised as the one before
   * was, its subscriptions and log level are set again, then waiting requests go on; that happens after this
   * resolves.
   */
  connect(attachment: Attachment): Promise<void>
  /** As `Proxy.checkCandidate`; sessions go on with the new process as after `connect`. */
  checkCandidate(
    attachment: Attachment,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Candidate>
  /** As `Proxy.ready`. Pending while no process is connected. */
  ready(options: { timeoutMs: number; signal: AbortSignal; ping: boolean }): Promise<void>
  /** Called when the process has gone. Requests in flight get an error; new ones wait a moment, then get 503. */
  disconnect(reason: string): void
  /** As `Proxy.protocol`. */
  readonly protocol: Protocol | undefined
  health(): { status: 'healthy' | 'degraded' | 'unhealthy'; error?: string }
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
  now?: () => number
}): Bridge {
  const {
    config,
    log,
    sessionTtlMs,
    publicBase,
    availability,
    onProtocol = () => {},
    now = Date.now,
  } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const router = createMessageRouter({
    name: config.name,
    limits,
    log,
    ttlMs: sessionTtlMs,
    now,
    availability,
    protocol: undefined,
    onProtocol,
  })
  const handle = config.proxy_mode === 'sse' ? createSse(router, publicBase) : createStreamableHttp(router)
  return {
    handle,
    respondOnStream(exchange, text) {
      sseSession(router, exchange).outbox.send(text)
      accept(exchange)
    },
    askOwn: createAskOwn(router),
    notify: text => router.notify(text),
    async connect(attachment) {
      router.server.connect(attachment)
    },
    checkCandidate: (attachment, options) => router.server.checkCandidate(attachment, options),
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
    async close() {
      router.close()
    },
  }
}
