import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import { createAvailability } from '../availability.ts'
import { DEFAULT_LIMITS } from '../bridge/bridge-limits.ts'
import { createMessageRouter } from '../bridge/message-router.ts'
import type { ClientFacts } from '../eras/modern-meta.ts'
import { createFairShare } from '../fair-share.ts'
import { allSessionsTaken } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { effectiveMode, sessionTtlOf } from '../section.ts'
import { holderOf } from '../session-owner.ts'
import { callerKey } from '../translated-http/caller-key.ts'
import { createSendForCaller } from '../translated-http/send-for-caller.ts'
import type { ServerOptions } from '../translated-http/translation-options.ts'
import { openSseLink } from './sse-link.ts'
import { openStreamableLink } from './streamable-link.ts'
import { createTranslatedClient, type TranslatedClient } from './translated-client.ts'

/** The clients of MCP 2026-07-28 of one HTTP server of an older revision. */
export interface TranslatedClients {
  /** True when the client has a session at the server. */
  handle(
    exchange: Exchange,
    asked: { message: Message; facts: ClientFacts; rewriting: Rewriting | undefined },
  ): Promise<boolean>
  /** Whether the client has a session at the server. */
  has(exchange: Exchange, facts: ClientFacts): boolean
  /** Whether no client has a call in flight or listens. */
  readonly isIdle: boolean
  /** Whether a client has a call in flight. */
  readonly hasCalls: boolean
  /** Sends a notification to those that listen. */
  notify(text: string): void
  /** Ends the sessions of clients that have been idle. */
  sweep(): void
  /** Ends all sessions; what is in flight fails. */
  close(): void
}

/** The most clients that have a session at the server; each one is a session of its own. */
const MAX_CLIENTS = 1000

export function createTranslatedClients(options: ServerOptions & { now?: () => number }): TranslatedClients {
  const { config, log, headersTimeoutMs, target, now = Date.now } = options
  const limits = { ...DEFAULT_LIMITS, requestTimeoutMs: headersTimeoutMs }
  const ttlMs = sessionTtlOf(config)
  const send = createSendForCaller({ ...options, target: () => target })
  /** Least recently used first. */
  const clients = new Map<string, TranslatedClient>()
  /** The caller whose place each client takes. */
  const holders = new Map<TranslatedClient, string>()
  const share = createFairShare(MAX_CLIENTS)

  function create(first: Exchange): TranslatedClient {
    const router = createMessageRouter({
      name: config.name,
      limits,
      log,
      ttlMs,
      now,
      availability: createAvailability({ waitMs: headersTimeoutMs, maxWaiting: limits.maxPending }),
      protocol: 'legacy',
      onProtocol() {},
    })
    return createTranslatedClient({
      router,
      first,
      now,
      open: (client, onLoginWanted) => {
        const parts = {
          send: (request: Parameters<typeof send>[1]) => send(client.latest, request),
          maxBytes: limits.maxLine,
          ...{ log, onLoginWanted, target },
        }
        return effectiveMode(config) === 'sse'
          ? openSseLink(parts)
          : openStreamableLink({ ...parts, hasHints: true })
      },
    })
  }

  const isIdle = ({ router }: TranslatedClient): boolean =>
    router.calls.size === 0 && ![...router.sessions.all()].some(session => session.outbox.connected)

  function remove(key: string, client: TranslatedClient): void {
    clients.delete(key)
    share.give(holders.get(client))
    holders.delete(client)
    client.router.close()
  }

  /** Takes a place. Ends idle sessions for it, the oldest first: those of the holder or, if none is free at all, anybody's. */
  function takePlace(holder: string): boolean {
    for (const [key, client] of clients) {
      if (share.hasRoom(holder)) break
      const mayEnd = holders.get(client) === holder || clients.size >= MAX_CLIENTS
      if (mayEnd && isIdle(client)) remove(key, client)
    }
    return share.take(holder)
  }

  return {
    async handle(exchange, { message, facts, rewriting }) {
      const key = keyOf(exchange, facts)
      const known = clients.get(key)
      const holder = holderOf(exchange, config)
      if (!known && !takePlace(holder)) {
        throw allSessionsTaken(message.kind === 'request' ? { idText: message.idText } : {})
      }
      const client = known ?? create(exchange)
      if (!known) holders.set(client, holder)
      clients.delete(key)
      clients.set(key, client)
      await client.handle(exchange, message, rewriting)
      return client.router.handshake.agreed !== undefined
    },
    has: (exchange, facts) => clients.has(keyOf(exchange, facts)),
    get hasCalls() {
      return clients.values().some(({ router }) => router.calls.size > 0)
    },
    get isIdle() {
      return [...clients.values()].every(isIdle)
    },
    notify(text) {
      for (const { router } of clients.values()) router.notify(text)
    },
    sweep() {
      for (const [key, client] of clients) {
        if (now() - client.lastUsed > ttlMs && isIdle(client)) remove(key, client)
      }
    },
    close() {
      for (const [key, client] of clients) remove(key, client)
    },
  }
}

/**
 * Who calls, where to, and what the client says of itself: one key is one session at the server. A key of the caller
 * may stand in the query of the URL, too.
 */
const keyOf = (exchange: Exchange, { infoText, capabilitiesText }: ClientFacts): string =>
  JSON.stringify([callerKey(exchange), exchange.url, infoText ?? null, capabilitiesText])
