import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { effectiveMode } from './section.ts'

/**
 * What clients of a workload connect to.
 *
 * A remote server keeps its own path; its query is added by the proxy and never shown. The fragment of an
 * SSE URL is the workload's name, as ToolHive writes it.
 */
export function clientUrl(config: RunConfig, port = config.port): string {
  const host = config.host ?? '127.0.0.1'
  const shown = isLoopback(host) || host === '0.0.0.0' ? '127.0.0.1' : host
  const sse = effectiveMode(config) === 'sse'
  const remotePath = config.remote_url ? new URL(config.remote_url).pathname : undefined
  const own = remotePath === '/' ? '' : remotePath
  const path = sse ? own || '/sse' : (own ?? '/mcp')
  return `http://${shown}:${port}${path}${sse ? `#${encodeURIComponent(config.name)}` : ''}`
}
