import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Callers } from '../../src/http/callers.ts'
import type { SiteGuard } from '../../src/http/guard-sites.ts'

// To import it would load the whole of fetch, which would delay the first response.
const { createServer } = process.getBuiltinModule('node:http')

/** The HTTP server, listening before the operations are loaded. */
export interface EarlyServer {
  readonly server: Server
  /** Hands requests to the handler from now on, first those that waited. Resolves when those have been answered. */
  open(handler: RequestListener): Promise<void>
}

/**
 * Responds to `/health` at once and keeps every other request waiting until the operations are loaded. A program
 * that starts the server and asks at once is never refused.
 */
export function createEarlyServer(options: {
  nonce: string
  guard: SiteGuard
  /** Checks callers; absent when every caller is accepted. */
  callers?: Callers | undefined
}): EarlyServer {
  const { nonce, guard, callers } = options
  const waiting: { request: IncomingMessage; response: ServerResponse }[] = []
  let handle: RequestListener | undefined

  const isHealth = (request: IncomingMessage): boolean => {
    if (request.method !== 'GET' || request.url !== '/health') return false
    try {
      guard(request)
      return callers?.problemOf(request) !== 'stranger'
    } catch {
      return false // waits for who says why
    }
  }

  const server = createServer((request, response) => {
    if (callers) callers.whenKnown(request, () => answer(request, response))
    else answer(request, response)
  })

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (handle) return void handle(request, response)
    if (!isHealth(request)) return void waiting.push({ request, response })
    response.writeHead(204, {
      'x-toolhive-nonce': nonce,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    response.end()
  }
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  server.keepAliveTimeout = 120_000
  return {
    server,
    async open(handler) {
      handle = handler
      const answered = waiting.splice(0).map(({ request, response }) => {
        const closed = new Promise(resolve => response.once('close', resolve))
        handler(request, response)
        return closed
      })
      await Promise.all(answered)
    },
  }
}
