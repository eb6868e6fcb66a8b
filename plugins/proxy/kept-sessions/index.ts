import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { createAvailability } from '../availability.ts'
import type { Patience } from '../backends/until-drained.ts'
import { DEFAULT_LIMITS } from '../bridge/bridge-limits.ts'
import { createSse, sseSessionId } from '../bridge/http/sse-transport.ts'
import { createStreamableHttp } from '../bridge/http/streamable-http-transport.ts'
import { createMessageRouter } from '../bridge/message-router.ts'
import { createFairShare } from '../fair-share.ts'
import { endpointUrl, isMessage } from '../http-sse.ts'
import { absoluteBase } from '../public-base.ts'
import { allSessionsTaken, sessionNotFound } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { sessionTtlOf } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import { holderOf } from '../session-owner.ts'
import { callerKey } from '../translated-http/caller-key.ts'
import { servesStateless } from '../translated-http/http-server-era.ts'
import { createSendForCaller, type SendForCaller } from '../translated-http/send-for-caller.ts'
import type { TranslationOptions } from '../translated-http/translation-options.ts'
import { type Era, findEra } from './find-era.ts'
import { createOlderClient, type OlderClient, type OwnOptions } from './older-client.ts'
import { SERVERS } from './servers.ts'

/**
 * The sessions that the proxy keeps for clients of MCP 2024-11-05 to 2025-11-25: all of them before a server of
 * 2026-07-28, those of HTTP+SSE also before an older server of streamable HTTP.
 */
export interface KeptSessions {
  /** As of `findEra`. */
  findEra(exchange: Exchange): Promise<Era | undefined>
  /** Takes an `initialize`, or a GET that opens a session over HTTP+SSE, for a server of this era. */
  open(exchange: Exchange, era: Era, rewriting: Rewriting | undefined): Promise<void>
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
  /** As that of a client. Sessions at the era that the new server lacks then end. */
  replace(patience: Patience, lost: Era | undefined): Promise<void>
  /** Ends all sessions. */
  close(reason: string): void
}

/** The most clients, with a session or about to open one. */
const MAX_CLIENTS = 1000

/** It is long because all of it works on the one set of clients. */
export function createKeptSessions(options: TranslationOptions & { now?: () => number }): KeptSessions {
  const { config, log, eras, headersTimeoutMs, now = Date.now } = options
  const limits = {
    ...DEFAULT_LIMITS,
    requestTimeoutMs: headersTimeoutMs,
    maxSessions: 1,
    // Late messages about a cancelled call come on the stream of that call, which is no longer read.
    givenUpMs: 0,
  }
  const ttlMs = sessionTtlOf(config)
  const send = createSendForCaller(options)
  const clients = new Map<string, OlderClient>()
  /** The caller whose place each client takes, from before its session is opened. */
  const holders = new Map<OlderClient, string>()
  const share = createFairShare(MAX_CLIENTS)
  const sendTo: SendForCaller = (exchange, request) =>
    send(exchange, { ...request, url: endpointUrl(exchange.url) })

  async function isOfClient(exchange: Exchange, client: OlderClient): Promise<boolean> {
    const isSame = (leftOut?: string) => callerKey(exchange, leftOut) === callerKey(client.latest, leftOut)
    // A key of the caller may stand in the query. Over HTTP+SSE, the first request alone has the client's own URL.
    if (!isMessage(exchange.url) && exchange.url !== client.latest.url) return false
    return isSame() || (isSame('authorization') && (await client.isRefused()))
  }

  function open(own: OwnOptions, { era, isSse }: { era: Era; isSse: boolean }) {
    const router = createMessageRouter({
      name: config.name,
      ...{ limits, log, ttlMs, now },
      availability: createAvailability(
        // A new server of sessions is initialised before it gets requests.
        era === 'legacy'
          ? { waitMs: headersTimeoutMs, maxWaiting: limits.maxPending }
          : { waitMs: 0, maxWaiting: 0 },
      ),
      protocol: era,
      hasHints: era === 'stateless',
      onProtocol() {},
      ...own,
    })
    const publicBase = (request: IncomingMessage) => absoluteBase(request, config)
    const handle = isSse ? createSse(router, publicBase) : createStreamableHttp(router)
    return { router, handle }
  }

  function create(first: Exchange, era: Era): OlderClient {
    const isSse = first.request.method === 'GET'
    return createOlderClient({
      ...{ first, era },
      // The response to `initialize` of HTTP+SSE comes on a stream, which cannot carry a challenge.
      open: own => open({ ...own, ...(isSse ? { challenge: () => undefined } : {}) }, { era, isSse }),
      server: SERVERS[era]({ ...options, maxBytes: limits.maxLine, url: endpointUrl(first.url) }),
      onOpened: ({ id }, client) => clients.set(id, client),
      onEnded(client) {
        if (client.session) clients.delete(client.session.id)
        if (holders.has(client)) share.give(holders.get(client))
        holders.delete(client)
      },
    })
  }

  /** Ends the session that has been idle longest: one of the holder or, if no place is free at all, anybody's. */
  function makeRoom(holder: string): void {
    const [victim] = [...clients.values()]
      .filter(client => holders.get(client) === holder || holders.size >= MAX_CLIENTS)
      .filter(({ idleMs }) => idleMs >= limits.reclaimAfterMs)
      .sort((a, b) => b.idleMs - a.idleMs)
    victim?.end('its place was needed')
  }

  return {
    findEra: exchange => findEra(exchange, { eras, send: sendTo }),
    async open(exchange, era, rewriting) {
      const holder = holderOf(exchange, config)
      if (!share.hasRoom(holder)) makeRoom(holder)
      if (!share.take(holder)) throw allSessionsTaken({ id: await requestId(exchange) })
      const client = create(exchange, era)
      holders.set(client, holder)
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
    async replace(patience, lost) {
      // Those too whose session is about to open.
      await Promise.all(
        [...holders.keys()].map(client => client.replace(patience, client.era === lost ? 'end' : 'connect')),
      )
    },
    close(reason) {
      for (const client of clients.values()) client.end(reason)
    },
  }
}
