import type { Exchange, Handler, Middleware, RewriteResult } from '../../../src/contracts/pipeline.ts'
import { rewriteItems } from '../../../src/net/list-result.ts'
import { INVALID_PARAMS, INVALID_REQUEST } from '../../../src/net/rpc-error-codes.ts'
import { errorText, param, readMessage } from '../../../src/net/rpc-message.ts'
import { hasBody, rpcRefusal } from '../../proxy/index.ts'
import { createNames } from '../../tools/index.ts'

const PATH = /^\/mcp\/([^/?]+)\/?(?=\?|$)/

/**
 * Shows at `/mcp/VIEW` those tools of the endpoint that the view names. All else is the endpoint's own, also its sessions.
 *
 * @param views patterns of names of tools, by the name of the view
 */
export function createViews(views: Readonly<Record<string, readonly string[]>>): Middleware {
  const shown = new Map(Object.entries(views).map(([name, patterns]) => [name, createNames(patterns)]))
  const chosen = new WeakMap<Exchange, (name: string) => boolean>()

  const list: RewriteResult = (result, exchange, lists) => {
    const isShown = chosen.get(exchange)
    return isShown
      ? rewriteItems(result, 'tools', ({ name, text }) => (isShown(name) ? text : undefined), lists)
      : result
  }

  async function judge(exchange: Exchange, next: Handler, isShown: (name: string) => boolean): Promise<void> {
    const message = readMessage((await exchange.rawText()) ?? '')
    if (!message) throw rpcRefusal(400, INVALID_REQUEST, 'A view takes one message in each request')
    if (message.kind !== 'request' || message.method !== 'tools/call') return next(exchange)
    const name = param(message, 'name')
    if (typeof name === 'string' && isShown(name)) return next(exchange)
    exchange.respond(errorText(message.idText, INVALID_PARAMS, `Unknown tool: ${String(name)}`))
  }

  return {
    name: 'views',
    stage: 'tools',
    summary: [...shown.keys()].map(name => `/mcp/${name}`).join(', '),
    rewrites: new Map([['tools/list', list]]),
    wrap: next => exchange => {
      const [path, view] = PATH.exec(exchange.url) ?? []
      if (path === undefined || view === undefined) return next(exchange)
      const isShown = shown.get(view)
      if (!isShown) throw rpcRefusal(404, INVALID_REQUEST, `The endpoint has no view "${view}"`)
      const { method, headers } = exchange.request
      // It would open an event stream of HTTP+SSE, whose messages go to a path without the view.
      if (method === 'GET' && headers['mcp-session-id'] === undefined)
        throw rpcRefusal(405, INVALID_REQUEST, 'Views need streamable HTTP')
      chosen.set(exchange, isShown)
      exchange.url = `/mcp${exchange.url.slice(path.length)}`
      return hasBody(exchange.request) ? judge(exchange, next, isShown) : next(exchange)
    },
  }
}
