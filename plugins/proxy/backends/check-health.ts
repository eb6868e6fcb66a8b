import type { Dispatcher } from 'undici'
import type { Health } from '../health.ts'
import { describe } from './probe-server.ts'
import type { TargetPath } from './target-path.ts'

const PING_TIMEOUT_MS = 5000
/** `/health` needs no credentials, so whoever asks it often must not make us ask the server as often. */
const KEPT_MS = 1000
const PING = '{"jsonrpc":"2.0","id":"keelson-ping","method":"ping"}'

/** Whether an HTTP server responds; every status below 500 counts. */
export function createHealthCheck(options: {
  agent: Dispatcher
  target: () => TargetPath | undefined
  reason: () => string | undefined
  stateless: boolean
  now?: () => number
}): () => Promise<Health> {
  const { agent, target, reason, stateless, now = Date.now } = options
  let last: { at: number; target: TargetPath; health: Promise<Health> } | undefined

  async function ping(to: TargetPath): Promise<Health> {
    const began = now()
    const last_checked = new Date(began).toISOString()
    try {
      const { statusCode, body } = await agent.request({
        origin: to.origin,
        path: to.pathFor(stateless ? '/mcp' : '/'),
        method: stateless ? 'POST' : 'GET',
        ...(stateless
          ? {
              body: PING,
              headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
            }
          : {}),
        signal: AbortSignal.timeout(PING_TIMEOUT_MS),
      })
      body.on('error', () => {}).destroy()
      const response_time_ms = now() - began
      if (statusCode < 500)
        return { status: 'healthy', mcp: { available: true, response_time_ms, last_checked } }
      const error = `HTTP ${statusCode} from ${new URL(to.origin).host}`
      return { status: 'unhealthy', mcp: { available: false, response_time_ms, error, last_checked } }
    } catch (error) {
      return { status: 'unhealthy', mcp: { available: false, error: describe(error), last_checked } }
    }
  }

  return async () => {
    const to = target()
    if (!to) {
      const error = reason() ?? 'the server is not there'
      return {
        status: 'unhealthy',
        mcp: { available: false, error, last_checked: new Date(now()).toISOString() },
      }
    }
    if (!last || last.target !== to || now() - last.at >= KEPT_MS) {
      last = { at: now(), target: to, health: ping(to) }
    }
    return last.health
  }
}
