import { clientUrl } from '../../src/client-url.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isInitialize } from './backends/find-session.ts'
import type { Patience } from './backends/until-drained.ts'
import type { Opening } from './backends/watch-attempt.ts'
import { endpointUrl, isMessage, opensSse, seeksEndpoint } from './http-sse.ts'
import type { Era } from './kept-sessions/find-era.ts'
import type { KeptSessions } from './kept-sessions/index.ts'
import { sessionNotFound } from './request-refusal.ts'
import type { Rewriting } from './rewrite/rewriting.ts'
import { effectiveMode } from './section.ts'
import { requestId } from './send-refusal.ts'
import type { TranslationOptions } from './translated-http/translation-options.ts'
import { watchOpening } from './translated-http/watch-opening.ts'

/** Sends an exchange to the server as it is; `opening` as of `Delivery`. */
type Pass = (opening?: Opening) => Promise<void>

/**
 * Clients of MCP up to 2025-11-25 before an HTTP server that may not serve them: a server of 2026-07-28 has no
 * `initialize`, and an older server of streamable HTTP has no HTTP+SSE.
 */
export interface OlderClients {
  /** Whether the request has to be looked at. Of servers that are known to have `initialize`, only some GETs. */
  mayTake(exchange: Exchange): boolean
  /** Responds where the server does not serve the client; else `pass` takes the exchange. */
  handle(exchange: Exchange, rewriting: Rewriting | undefined, pass: Pass): Promise<void>
  /** As of the forwarder, for clients of HTTP+SSE; false for all others. */
  respond(exchange: Exchange, text: string): boolean
  notify(text: string): void
  /** The server is there, or has gone; sessions stay. */
  connect(): void
  disconnect(reason: string): void
  /**
   * Another server is connected, which lacks the era `lost`. Resolves when the calls at the previous one have ended;
   * those that take longer fail.
   */
  replace(patience: Patience, lost: Era | undefined): Promise<void>
  /** Ends all sessions. */
  close(reason: string): void
}

/** Whether a message goes to an endpoint of a session that the proxy keeps or has kept. */
const isEndpointOfSession = ({ url }: Exchange): boolean =>
  /^\/messages\?session_id=[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(url)

/** What serves them is loaded when a server refuses `initialize`, or a GET of HTTP+SSE. */
export function createOlderClients(options: TranslationOptions): OlderClients {
  const { eras } = options
  const hasSse = effectiveMode(options.config) === 'sse'
  const { pathname } = new URL(clientUrl(options.config))
  const opens = (exchange: Exchange) => opensSse(exchange, pathname)
  let serving: KeptSessions | undefined

  async function load(): Promise<KeptSessions> {
    if (serving) return serving
    const { createKeptSessions } = await import('./kept-sessions/index.ts')
    serving ??= createKeptSessions(options)
    return serving
  }

  /**
   * Passes on what begins a session, unless the server shows that it does not serve the client. Returns the era of such
   * a server; undefined when the client got a response.
   */
  async function tryNative(exchange: Exchange, pass: Pass): Promise<Era | undefined> {
    const known = eras.of({ url: endpointUrl(exchange.url) })
    if (known.legacy === false) return 'stateless'
    let isRefused = false
    await pass({
      withhold() {
        isRefused = true
      },
      watch: (headers, change) => watchOpening(headers, change, () => known.note('legacy', true)),
    })
    if (!isRefused) return undefined
    const isLegacy = known.legacy && seeksEndpoint(exchange)
    const era = isLegacy ? 'legacy' : await (await load()).findEra(exchange)
    if (!era) await pass()
    return era
  }

  return {
    mayTake(exchange) {
      const { method, headers } = exchange.request
      if (serving?.find(exchange) || (!hasSse && isEndpointOfSession(exchange))) return true
      if (headers['mcp-session-id'] !== undefined) return false
      if (method !== 'POST' && !opens(exchange)) return false
      return (
        eras.of({ url: endpointUrl(exchange.url) }).legacy !== true || (!hasSse && seeksEndpoint(exchange))
      )
    },
    async handle(exchange, rewriting, pass) {
      if (opens(exchange) || (!isMessage(exchange.url) && (await isInitialize(exchange)))) {
        const era = await tryNative(exchange, pass)
        return era && (await load()).open(exchange, era, rewriting)
      }
      const client = serving?.find(exchange)
      if (client) return serving?.handle(client, exchange, rewriting)
      // A server without sessions would execute the message.
      if (isEndpointOfSession(exchange)) throw sessionNotFound({ id: await requestId(exchange) })
      return pass()
    },
    respond(exchange, text) {
      const client = isMessage(exchange.url) ? serving?.find(exchange) : undefined
      client?.respond(exchange, text)
      return client !== undefined
    },
    notify: text => serving?.notify(text),
    connect: () => serving?.connect(),
    disconnect: reason => serving?.disconnect(reason),
    replace: async (patience, lost) => serving?.replace(patience, lost),
    close: reason => serving?.close(reason),
  }
}
