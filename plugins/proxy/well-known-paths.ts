import type { Exchange, Middleware } from '../../src/contracts/pipeline.ts'
import type { Health } from './health.ts'
import { type OwnResponse, sendOwnResponse } from './own-response.ts'
import { textRefusal } from './request-refusal.ts'

const json = (status: number, value: unknown, headers: Record<string, string> = {}): OwnResponse => ({
  status,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
  headers,
})

/**
 * Serves the paths that never reach the server: `/health`, `/metrics`, `/.well-known/`.
 *
 * The last middleware of its stage: plugins that have metrics or resource metadata respond before it.
 */
export function createWellKnownPaths(options: {
  transport: string
  health: () => Promise<Health>
  now?: () => Date
}): Middleware {
  const { transport, health, now = () => new Date() } = options

  async function sendHealth(exchange: Exchange): Promise<void> {
    const { method } = exchange.request
    if (method !== 'GET' && method !== 'HEAD') {
      return sendOwnResponse(exchange, json(405, { error: 'method_not_allowed' }, { allow: 'GET, HEAD' }))
    }
    const { status, ...details } = await health()
    const body = { status, timestamp: now().toISOString(), transport, ...details }
    sendOwnResponse(exchange, json(status === 'unhealthy' ? 503 : 200, body))
  }

  return {
    name: 'well-known-paths',
    stage: 'well-known',
    wrap: next => exchange => {
      const { url } = exchange
      const query = url.indexOf('?')
      const path = query < 0 ? url : url.slice(0, query)
      if (path === '/health') return sendHealth(exchange)
      if (path === '/metrics') throw textRefusal(404, 'metrics are not enabled')
      if (path.startsWith('/.well-known/') || path === '/.well-known') {
        return sendOwnResponse(exchange, json(404, { error: 'not_found' }))
      }
      return next(exchange)
    },
  }
}
