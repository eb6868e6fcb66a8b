import type { Middleware } from '../../src/contracts/pipeline.ts'
import { Refusal, textRefusal } from './request-refusal.ts'

/** What `/health` says. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  readonly mcp?: {
    readonly available: boolean
    readonly response_time_ms?: number
    readonly error?: string
    readonly last_checked: string
  }
}

const json = (status: number, value: unknown, headers?: Record<string, string>) =>
  new Refusal(status, { type: 'application/json', body: Buffer.from(JSON.stringify(value)) }, headers)

/**
 * Paths that are ours and never the server's: `/health`, `/metrics`, `/.well-known/`.
 *
 * The last of the guard stage: outside authentication, but a middleware of that stage may answer before it,
 * as the plugins that have metrics or resource metadata to show do.
 */
export function createSidePaths(options: {
  transport: string
  health: () => Promise<Health>
  now?: () => Date
}): Middleware {
  const { transport, health, now = () => new Date() } = options
  async function answerHealth(method: string | undefined): Promise<never> {
    if (method !== 'GET' && method !== 'HEAD') {
      throw json(405, { error: 'method_not_allowed' }, { allow: 'GET, HEAD' })
    }
    const { status, mcp } = await health()
    throw json(status === 'unhealthy' ? 503 : 200, {
      status,
      timestamp: now().toISOString(),
      transport,
      ...(mcp ? { mcp } : {}),
    })
  }
  return {
    name: 'side-paths',
    stage: 'guard',
    wrap: next => exchange => {
      const { url } = exchange
      const query = url.indexOf('?')
      const path = query < 0 ? url : url.slice(0, query)
      if (path === '/health') return answerHealth(exchange.request.method)
      if (path === '/metrics') throw textRefusal(404, 'metrics are not enabled')
      if (path.startsWith('/.well-known/') || path === '/.well-known') {
        throw json(404, { error: 'not_found' })
      }
      return next(exchange)
    },
  }
}
