import { isIPv4 } from 'node:net'
import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { assertAnnouncedLength } from './body.ts'
import { rpcRefusal } from './refusal.ts'

/**
 * Names that mean this machine to whoever asks: browsers resolve them without DNS, or DNS cannot be made to
 * answer them (`.internal` is reserved for private use), so a page cannot be rebound to them.
 */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal', 'host.containers.internal']

/** An origin in one spelling: scheme and host in lower case, the port as written; undefined when it is none. */
export function canonicalOrigin(text: string): string | undefined {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s,]+)(?:[/?#].*)?$/i.exec(text)
  return parts ? `${parts[1]}://${parts[2]}`.toLowerCase() : undefined
}

/** The origins that may call; undefined: all may, because nothing was configured and others can connect. */
export function allowedOrigins(
  config: RunConfig,
  listener: { host: string; port: number },
): ReadonlySet<string> | undefined {
  const explicit = config.allowed_origins ?? []
  if (explicit.length) return new Set(explicit.map(canonicalOrigin).filter(origin => origin !== undefined))
  if (!isLoopback(listener.host)) return undefined
  return new Set(['localhost', '127.0.0.1', '[::1]'].map(host => `http://${host}:${listener.port}`))
}

/**
 * The `Host` values that are taken; undefined: all. A permission profile may name them (`inbound.allow_host`).
 *
 * On loopback only names of this machine are, or those of allowed origins, which defeats DNS rebinding.
 * On other addresses we cannot know by which names we are reached, nor behind a proxy that is trusted.
 */
function allowedHosts(
  config: RunConfig,
  listener: { host: string; port: number },
): ReadonlySet<string> | undefined {
  const inbound = config.permission_profile?.network?.inbound?.allow_host ?? []
  if (inbound.length) return new Set(inbound.flatMap(host => spellings(host.toLowerCase(), listener.port)))
  if (!isLoopback(listener.host) || config.trust_proxy_headers) return undefined
  const names = isIPv4(listener.host) ? [...LOCAL_NAMES, listener.host] : LOCAL_NAMES
  return new Set([
    ...names.flatMap(name => spellings(name, listener.port)),
    ...(config.allowed_origins ?? []).flatMap(origin => {
      const host = canonicalOrigin(origin)?.split('://')[1]
      return host ? [host] : []
    }),
  ])
}

/** How clients write a host in `Host`: port 80 may be left out (RFC 9110 section 7.2). */
const spellings = (host: string, port: number): string[] => {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return [`${name}:${port}`, ...(port === 80 ? [name] : [])]
}

/** The outermost middleware: who may ask at all (Host, Origin), and how much they may send. */
export function createGuard(config: RunConfig, listener: { host: string; port: number }): Middleware {
  const origins = allowedOrigins(config, listener)
  const hosts = allowedHosts(config, listener)
  return {
    name: 'guard',
    stage: 'guard',
    wrap: next => exchange => {
      const { headers } = exchange.request
      // HTTP/1.0 clients may send no Host; browsers always do.
      if (hosts && headers.host !== undefined && !hosts.has(headers.host.toLowerCase())) {
        throw rpcRefusal(403, -32600, 'Host not allowed')
      }
      // Several Origin headers arrive joined by a comma, which no origin holds.
      if (origins && headers.origin !== undefined) {
        const origin = canonicalOrigin(headers.origin)
        if (origin === undefined || !origins.has(origin)) {
          throw rpcRefusal(403, -32600, 'Origin not allowed')
        }
      }
      assertAnnouncedLength(exchange.request)
      return next(exchange)
    },
  }
}
