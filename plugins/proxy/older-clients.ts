import type { Dispatcher } from 'undici'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { isInitialize } from './backends/find-session.ts'
import { BackendGone } from './backends/gateway-error.ts'
import type { TargetPath } from './backends/target-path.ts'
import type { Opening } from './backends/watch-attempt.ts'
import type { HttpEras } from './http-eras.ts'
import { endpointUrl, isMessage, opensSse } from './http-sse.ts'
import type { Rewriting } from './rewrite/rewriting.ts'
import type { StatelessHttp } from './stateless-http/index.ts'
import { watchOpening } from './translated-http/watch-opening.ts'

/** Sends an exchange to the server as it is; `opening` as of `Delivery`. */
type Pass = (opening?: Opening) => Promise<void>

/** Clients of MCP up to 2025-11-25 before an HTTP server that may be of 2026-07-28. */
export interface OlderClients {
  /** Whether the request has to be looked at. Never for servers that are known to have `initialize`. */
  mayTake(exchange: Exchange): boolean
  /** Responds where the server has no `initialize`; else `pass` takes the exchange. */
  handle(exchange: Exchange, rewriting: Rewriting | undefined, pass: Pass): Promise<void>
  /** As of the forwarder, for clients of HTTP+SSE; false for all others. */
  respond(exchange: Exchange, text: string): boolean
  notify(text: string): void
  /** The server is there, or has gone; sessions stay. */
  connect(): void
  disconnect(reason: string): void
  /** Ends all sessions. */
  close(reason: string): void
}

/** What serves them is loaded when a server refuses `initialize`. */
export function createOlderClients(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  headersTimeoutMs: number
  remote: boolean
  eras: HttpEras
  target: () => TargetPath | undefined
}): OlderClients {
  const { eras } = options
  let serving: StatelessHttp | undefined

  async function load(): Promise<StatelessHttp> {
    const { createStatelessHttp } = await import('./stateless-http/index.ts')
    serving ??= createStatelessHttp({
      ...options,
      target() {
        const target = options.target()
        if (!target) throw new BackendGone('it was stopped')
        return target
      },
    })
    return serving
  }

  /** Passes on what begins a session, unless the server shows that it has none. True when the client got a response. */
  async function tryNative(exchange: Exchange, pass: Pass): Promise<boolean> {
    const known = eras.of({ url: endpointUrl(exchange.url) })
    if (known.legacy === false) return false
    let isRefused = false
    await pass({
      withhold() {
        isRefused = true
      },
      watch: (headers, change) => watchOpening(headers, change, () => known.note('legacy', true)),
    })
    if (!isRefused) return true
    if (await (await load()).findStateless(exchange)) return false
    await pass()
    return true
  }

  return {
    mayTake(exchange) {
      const { method, headers } = exchange.request
      if (serving?.find(exchange)) return true
      if (headers['mcp-session-id'] !== undefined) return false
      if (method !== 'POST' && !opensSse(exchange)) return false
      return eras.of({ url: endpointUrl(exchange.url) }).legacy !== true
    },
    async handle(exchange, rewriting, pass) {
      if (opensSse(exchange) || (!isMessage(exchange.url) && (await isInitialize(exchange)))) {
        if (await tryNative(exchange, pass)) return
        return (await load()).open(exchange, rewriting)
      }
      const client = serving?.find(exchange)
      return client ? serving?.handle(client, exchange, rewriting) : pass()
    },
    respond(exchange, text) {
      const client = isMessage(exchange.url) ? serving?.find(exchange) : undefined
      client?.respond(exchange, text)
      return client !== undefined
    },
    notify: text => serving?.notify(text),
    connect: () => serving?.connect(),
    disconnect: reason => serving?.disconnect(reason),
    close: reason => serving?.close(reason),
  }
}
