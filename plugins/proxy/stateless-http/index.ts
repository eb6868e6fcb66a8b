import type { IncomingMessage } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import { createAvailability } from '../availability.ts'
import type { TargetPath } from '../backends/target-path.ts'
import { DEFAULT_LIMITS } from '../bridge/bridge-limits.ts'
import { createMessageRouter } from '../bridge/message-router.ts'
import { createSse, sseSessionId } from '../bridge/sse-transport.ts'
import { createStreamableHttp } from '../bridge/streamable-http-transport.ts'
import type { HttpEras } from '../http-eras.ts'
import { endpointUrl, isMessage } from '../http-sse.ts'
import { absoluteBase } from '../public-base.ts'
import { allSessionsTaken, sessionNotFound } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { sessionTtlOf } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import { callerKey } from '../translated-http/caller-key.ts'
import { servesSessions, servesStateless } from '../translated-http/http-server-era.ts'
import { createSendForCaller, type SendForCaller } from '../translated-http/send-for-caller.ts'
import { createOlderClient, type OlderClient, type OwnOptions } from './older-client.ts'
import { openStatelessAttachment } from './stateless-attachment.ts'

/** The clients of MCP 2024-11-05 to 2025-11-25 of one HTTP server of 2026-07-28: the proxy keeps their sessions. */
export interface StatelessHttp {
  /**
   * Finds out whether the server has no `initialize`, which it has refused. False also where it does not say: it wants
   * other credentials, or cannot be reached.
   */
  findStateless(exchange: Exchange): Promise<boolean>
  /** Takes an `initialize`, or a GET that opens a session over HTTP+SSE. */
  open(exchange: Exchange, rewriting: Rewriting | undefined): Promise<void>
  /** The client whose session the request names. */
  find(exchange: Exchange): OlderClient | undefined
  /**
   * Takes any other request in that session. That of another caller does not exist; only `Authorization` may be another
   * one, when the server refuses the one before.
   */
  handle(client: OlderClient, exchange: Exchange, rewriting: Rewriting | undefined): Promise<void>
  /** Sends a notification to all sessions. */
  notify(text: string): void
  /** As those of a client. */
  connect(): void
  disconnect(reason: string): void
  /** Ends all sessions. */
  close(reason: string): void
}

const MAX_CLIENTS = 1000

/** It is long because all of it works on the one set of clients. */
export function createStatelessHttp(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  remote: boolean
  headersTimeoutMs: number
  eras: HttpEras
  target: () => TargetPath
  now?: () => number
}): StatelessHttp {
  const { config, log, eras, headersTimeoutMs, now = Date.now } = options
  const limits = { ...DEFAULT_LIMITS, requestTimeoutMs: headersTimeoutMs, maxSessions: 1 }
  const ttlMs = sessionTtlOf(config)
  const send = createSendForCaller({ ...options, trust: config.trust_proxy_headers === true })
  const clients = new Map<string, OlderClient>()
  const sendTo: SendForCaller = (exchange, request) =>
    send(exchange, { ...request, url: endpointUrl(exchange.url) })

  async function isOfClient(exchange: Exchange, client: OlderClient): Promise<boolean> {
    const isSame = (leftOut?: string) => callerKey(exchange, leftOut) === callerKey(client.latest, leftOut)
    // A key of the caller may stand in the query.
    if (endpointUrl(exchange.url) !== endpointUrl(client.latest.url)) return false
    return isSame() || (isSame('authorization') && (await client.isRefused()))
  }

  function open(own: OwnOptions, over: 'sse' | 'streamable-http') {
    const router = createMessageRouter({
      name: config.name,
      ...{ limits, log, ttlMs, now },
      availability: createAvailability({ waitMs: 0, maxWaiting: 0 }),
      protocol: 'stateless',
      hasHints: true,
      onProtocol() {},
      ...own,
    })
    const publicBase = (request: IncomingMessage) => absoluteBase(request, config)
    const handle = over === 'sse' ? createSse(router, publicBase) : createStreamableHttp(router)
    return { router, handle }
  }

  function create(first: Exchange): OlderClient {
    const isSse = first.request.method === 'GET'
    return createOlderClient({
      first,
      // The response to `initialize` of HTTP+SSE comes on a stream, which cannot carry a challenge.
      open: own =>
        isSse ? open({ ...own, challenge: () => undefined }, 'sse') : open(own, 'streamable-http'),
      attach: (latest, onLoginWanted) =>
        openStatelessAttachment({
          send: request => sendTo(latest(), request),
          maxBytes: limits.maxLine,
          ...{ log, onLoginWanted },
        }),
      onOpened: ({ id }, client) => clients.set(id, client),
      onEnded: ({ session }) => session && clients.delete(session.id),
    })
  }

  /** Ends the session that has been idle longest, where there is no room for another. False when all are in use. */
  function makeRoom(): boolean {
    if (clients.size < MAX_CLIENTS) return true
    const [victim] = [...clients.values()]
      .filter(({ idleMs }) => idleMs >= limits.reclaimAfterMs)
      .sort((a, b) => b.idleMs - a.idleMs)
    victim?.end('its place was needed')
    return victim !== undefined
  }

  return {
    async findStateless(exchange) {
      const known = eras.of({ url: endpointUrl(exchange.url) })
      const stateless = await servesStateless(sendTo, exchange)
      if (stateless.serves !== undefined && stateless.isSure) known.note('stateless', stateless.serves)
      if (!stateless.serves) return false
      // A server of both eras may find fault with the `initialize` of this client only.
      const sessions = await servesSessions(sendTo, exchange)
      if (sessions.serves !== undefined && sessions.isSure) known.note('legacy', sessions.serves)
      return sessions.serves === false
    },
    async open(exchange, rewriting) {
      if (!makeRoom()) throw allSessionsTaken({ id: await requestId(exchange) })
      const client = create(exchange)
      try {
        await client.handle(exchange, rewriting)
        // The server may be another one by now.
        if (!client.session && (await servesStateless(sendTo, exchange)).serves === false) eras.forget()
      } finally {
        if (!client.session) client.end('no session has begun')
      }
    },
    find(exchange) {
      const id = isMessage(exchange.url) ? sseSessionId(exchange) : exchange.request.headers['mcp-session-id']
      return id === undefined ? undefined : clients.get(String(id))
    },
    async handle(client, exchange, rewriting) {
      if (!(await isOfClient(exchange, client))) {
        throw sessionNotFound({ id: await requestId(exchange) })
      }
      return client.handle(exchange, rewriting)
    },
    notify(text) {
      for (const client of clients.values()) client.notify(text)
    },
    connect() {
      for (const client of clients.values()) client.connect()
    },
    disconnect(reason) {
      for (const client of clients.values()) client.disconnect(reason)
    },
    close(reason) {
      for (const client of clients.values()) client.end(reason)
    },
  }
}
