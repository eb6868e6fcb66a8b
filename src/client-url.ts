import { isIPv6 } from 'node:net'
import type { ProxyMode, RunConfig } from './contracts/run-config.ts'
import { isLoopback } from './net/loopback.ts'

/** How clients speak to the proxy. A proxy mode beside a transport that is not stdio says nothing. */
export const effectiveMode = (config: RunConfig): ProxyMode =>
  config.transport === 'stdio' ? (config.proxy_mode ?? 'streamable-http') : config.transport

/**
 * What clients of a workload connect to.
 *
 * A remote server keeps its own path; its query is added by the proxy and never shown. The fragment of an
 * SSE URL is the workload's name, as ToolHive writes it.
 */
export function clientUrl(config: RunConfig, port = config.port): string {
  const sse = effectiveMode(config) === 'sse'
  const remotePath = config.remote_url ? new URL(config.remote_url).pathname : undefined
  const own = remotePath === '/' ? '' : remotePath
  const path = sse ? own || '/sse' : (own ?? '/mcp')
  return `http://${hostFor(config.host ?? LOOPBACK)}:${port}${path}${sse ? `#${encodeURIComponent(config.name)}` : ''}`
}

const LOOPBACK = '127.0.0.1'

/** Where clients of this machine reach a listener at `host`; an IPv6 address in brackets (RFC 3986, section 3.2.2). */
function hostFor(host: string): string {
  if (host === '::1' || host === '[::1]') return '[::1]'
  if (isLoopback(host) || host === '0.0.0.0' || host === '::') return LOOPBACK
  return isIPv6(host) ? `[${host}]` : host
}
