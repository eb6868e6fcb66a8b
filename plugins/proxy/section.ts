import type { ProxyMode, RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from '../../src/errors.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import type { Section } from '../../src/plugin.ts'

export const DEFAULT_SESSION_TTL_MS = 2 * 3_600_000

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig {
    /** Exact-match list for the `Origin` header; absent on loopback: the proxy's own origins. */
    allowed_origins?: string[]
    /** Path put before the endpoint that an SSE server announces. */
    endpoint_prefix?: string
    /** How long an idle session lives, as a Go duration; absent or zero: two hours. */
    session_ttl?: string
    /** A stranger named the remote server, so its name may never resolve to a private address. */
    remote_must_be_public?: boolean
    /** The server keeps no sessions: POST only. */
    stateless?: boolean
    /** Believe `X-Forwarded-*` of whoever connects. */
    trust_proxy_headers?: boolean
  }
}

/** How clients speak to the proxy. A proxy mode beside a transport that is not stdio says nothing. */
export const effectiveMode = (config: RunConfig): ProxyMode =>
  config.transport === 'stdio' ? (config.proxy_mode ?? 'streamable-http') : config.transport

/** The session lifetime in milliseconds. */
export const sessionTtlOf = (config: RunConfig): number =>
  parseDuration(config.session_ttl ?? '') || DEFAULT_SESSION_TTL_MS

const wrong = (text: string) => failures.usage({ text })

/** Checks the members this plugin owns, whether they came from flags or from a file. */
export const proxySection: Section = {
  keys: [
    'allowed_origins',
    'endpoint_prefix',
    'remote_must_be_public',
    'session_ttl',
    'stateless',
    'trust_proxy_headers',
  ],
  check(config) {
    const {
      allowed_origins,
      endpoint_prefix,
      remote_must_be_public,
      session_ttl,
      stateless,
      trust_proxy_headers,
    } = config as {
      readonly [K in keyof RunConfig]: unknown
    }
    if (allowed_origins !== undefined) {
      if (!Array.isArray(allowed_origins)) throw wrong('allowed_origins is a list of origins.')
      for (const origin of allowed_origins) {
        if (typeof origin !== 'string' || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+/i.test(origin)) {
          throw wrong(`--allowed-origins takes origins such as https://app.example, not "${origin}".`)
        }
      }
    }
    if (endpoint_prefix !== undefined && endpoint_prefix !== '') {
      if (typeof endpoint_prefix !== 'string' || !/^\/[^\s?#]*$/.test(endpoint_prefix)) {
        throw wrong(`--endpoint-prefix takes a path that starts with "/", not "${endpoint_prefix}".`)
      }
    }
    if (session_ttl !== undefined && session_ttl !== '') {
      if (typeof session_ttl !== 'string' || parseDuration(session_ttl) === undefined) {
        throw wrong(`--session-ttl takes a duration such as 30m or 2h, not "${session_ttl}".`)
      }
    }
    for (const [key, value] of Object.entries({ remote_must_be_public, stateless, trust_proxy_headers })) {
      if (value !== undefined && typeof value !== 'boolean') throw wrong(`${key} is true or false.`)
    }
    if (stateless === true && config.transport !== 'streamable-http') {
      throw wrong(`--stateless needs --transport streamable-http; this workload speaks ${config.transport}.`)
    }
  },
}
