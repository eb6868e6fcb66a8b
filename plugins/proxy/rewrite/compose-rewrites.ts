import {
  type Exchange,
  type Middleware,
  type RewriteResult,
  STAGES,
} from '../../../src/contracts/pipeline.ts'
import type { Log } from '../../../src/log.ts'
import { idKey, readMessage } from '../../../src/net/rpc-message.ts'
import { type Awaited, createRewriting, type Rewriting } from './rewriting.ts'
import { toSubscriber } from './to-subscriber.ts'

/** What the middlewares of a proxy change in results of the server. */
export interface Rewrites {
  /** How the response to an exchange is changed; undefined: it passes as bytes. */
  of(exchange: Exchange): Promise<Rewriting | undefined> | undefined
  /** As `MiddlewareContext.resultsChanged`. */
  changed(notification: string): void
}

/** The middlewares that change results now or may begin to, the innermost first. */
export const toRewriters = (middlewares: readonly Middleware[]): readonly Middleware[] =>
  middlewares
    .filter(middleware => 'rewrites' in middleware)
    .sort((a, b) => STAGES.indexOf(b.stage) - STAGES.indexOf(a.stage))

/** The rewrites of all middlewares; `rewriters` is called at each request. */
export function composeRewrites(
  rewriters: () => readonly Middleware[],
  {
    log,
    passesStreams,
  }: {
    log: Log
    /** Whether the server has event streams of its own for GET. */
    passesStreams: boolean
  },
): Rewrites {
  /** Event streams that may begin to be rewritten while they are open, and what they carry of a notification. */
  const streams = new Map<
    Rewriting,
    { exchange: Exchange; toText: (notification: string) => string | undefined }
  >()
  const isNeeded = () => rewriters().some(({ rewrites }) => rewrites !== undefined && rewrites.size > 0)

  const find = (method: string): RewriteResult[] =>
    rewriters().flatMap(({ rewrites }) => rewrites?.get(method) ?? [])

  function streamOf(
    exchange: Exchange,
    toText = (notification: string): string | undefined => notification,
  ): Rewriting {
    const rewriting = createRewriting({ exchange, awaited: undefined, find, isNeeded, log })
    streams.set(rewriting, { exchange, toText })
    exchange.response.once('close', () => streams.delete(rewriting))
    return rewriting
  }

  async function planFor(exchange: Exchange): Promise<Rewriting | undefined> {
    if (exchange.request.method === 'GET') return passesStreams ? streamOf(exchange) : undefined
    if (exchange.request.method !== 'POST') return undefined
    const rewriting = (awaited?: Awaited) =>
      createRewriting({ exchange, awaited, find, isNeeded: () => true, log })
    const asked = await exchange.message()
    if (asked && 'method' in asked && asked.method !== LISTEN && find(asked.method).length === 0)
      return undefined
    const text = await exchange.rawText()
    const message = text === undefined ? undefined : readMessage(text)
    // Nobody here can tell what a server makes of a body that is not one message.
    if (!message) return rewriting()
    if (passesStreams && message.kind === 'request' && message.method === LISTEN) {
      return streamOf(exchange, text => toSubscriber(text, { filter: message, idText: message.idText }))
    }
    if (message.kind !== 'request' || find(message.method).length === 0) return undefined
    return rewriting({ method: message.method, idText: message.idText, idKey: idKey(message.idText) })
  }

  return {
    of: exchange =>
      isNeeded() || (passesStreams && isStream(exchange) && rewriters().length > 0)
        ? planFor(exchange)
        : undefined,
    changed(notification) {
      for (const [rewriting, { exchange, toText }] of streams) {
        const { response } = exchange
        const text = toText(notification)
        if (rewriting.send) {
          if (text !== undefined) rewriting.send(text)
        } else if (response.headersSent && isNeeded()) response.destroy()
      }
    },
  }
}

/** The method of MCP 2026-07-28 that opens an event stream; its clients name the method in a header. */
const LISTEN = 'subscriptions/listen'

const isStream = ({ request: { method, headers } }: Exchange): boolean =>
  method === 'GET' || headers['mcp-method'] === LISTEN
