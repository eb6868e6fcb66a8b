import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import { createAvailability } from '../availability.ts'
import type { TargetPath } from '../backends/target-path.ts'
import { DEFAULT_LIMITS } from '../bridge/bridge-limits.ts'
import { createMessageRouter } from '../bridge/message-router.ts'
import type { ClientFacts } from '../eras/modern-meta.ts'
import { allSessionsTaken } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { effectiveMode, sessionTtlOf } from '../section.ts'
import { ownerOf } from '../session-owner.ts'
import { createLegacyRequests } from './legacy-requests.ts'
import { openSseAttachment } from './sse-attachment.ts'
import { openStreamableAttachment } from './streamable-attachment.ts'
import { createTranslatedClient, type TranslatedClient } from './translated-client.ts'

/** The clients of MCP 2026-07-28 of one HTTP server of an older revision. */
export interface TranslatedClients {
  handle(
    exchange: Exchange,
    asked: { message: Message; facts: ClientFacts; rewriting: Rewriting | undefined },
  ): Promise<void>
  /** Whether no client has a call in flight or listens. */
  readonly isIdle: boolean
  /** Sends a notification to those that listen. */
  notify(text: string): void
  /** Ends the sessions of clients that have been idle. */
  sweep(): void
  /** Ends all sessions; what is in flight fails. */
  close(): void
}

/** The most clients that have a session at the server; each one is a session of its own. */
const MAX_CLIENTS = 1000

/**
 * Headers that say nothing about who calls. All others are the credentials of a client for all we know: two clients
 * that differ in them have nothing in common at the server.
 */
const NOT_OF_CALLER =
  /^(?:accept|baggage$|cache-control$|connection$|content-|date$|dnt$|expect$|forwarded$|host$|keep-alive$|last-event-id$|mcp-|origin$|pragma$|priority$|referer$|sec-|te$|trace(?:parent|state)$|trailer$|transfer-encoding$|upgrade|user-agent$|via$|x-correlation-id$|x-forwarded-|x-real-ip$|x-request-id$)/

export function createTranslatedClients(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  remote: boolean
  headersTimeoutMs: number
  target: TargetPath
  now?: () => number
}): TranslatedClients {
  const { config, log, headersTimeoutMs, target, now = Date.now } = options
  const limits = { ...DEFAULT_LIMITS, requestTimeoutMs: headersTimeoutMs }
  const ttlMs = sessionTtlOf(config)
  const send = createLegacyRequests({ ...options, trust: config.trust_proxy_headers === true })
  /** Least recently used first. */
  const clients = new Map<string, TranslatedClient>()

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
        return effectiveMode(config) === 'sse' ? openSseAttachment(parts) : openStreamableAttachment(parts)
      },
    })
  }

  const isIdle = ({ router }: TranslatedClient): boolean =>
    router.calls.size === 0 && ![...router.sessions.all()].some(session => session.outbox.connected)

  function remove(key: string, client: TranslatedClient): void {
    clients.delete(key)
    client.router.close()
  }

  /** Ends idle sessions, the oldest first, until one more has room. False when all are in use. */
  function makeRoom(): boolean {
    for (const [key, client] of clients) {
      if (clients.size < MAX_CLIENTS) break
      if (isIdle(client)) remove(key, client)
    }
    return clients.size < MAX_CLIENTS
  }

  return {
    async handle(exchange, { message, facts, rewriting }) {
      const key = keyOf(exchange, facts)
      const known = clients.get(key)
      if (!known && !makeRoom()) {
        throw allSessionsTaken(message.kind === 'request' ? { idText: message.idText } : {})
      }
      const client = known ?? create(exchange)
      clients.delete(key)
      clients.set(key, client)
      return client.handle(exchange, message, rewriting)
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

/** Who calls, and what the client says of itself: one key is one session at the server. */
function keyOf(exchange: Exchange, { infoText, capabilitiesText }: ClientFacts): string {
  const owner = ownerOf(exchange)
  const headers = Object.entries(exchange.request.headers)
    .filter(([name]) => !NOT_OF_CALLER.test(name) && !(owner !== undefined && name === 'authorization'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([owner ?? null, infoText ?? null, capabilitiesText, headers])
}
