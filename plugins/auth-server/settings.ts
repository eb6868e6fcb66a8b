import { parseDuration } from '../../src/lib/duration.ts'
import { type Admit, createAdmit } from './grants/admission.ts'
import type { AuthServerConfig } from './section.ts'

export const DEFAULT_SCOPES = ['openid', 'profile', 'email', 'offline_access']

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long what is issued is valid, and the bounds of that. */
export const LIFESPANS = {
  access_token_lifespan: {
    usualMs: HOUR,
    leastMs: MINUTE,
    mostMs: DAY,
    range: 'between 1 minute and 24 hours',
  },
  refresh_token_lifespan: {
    usualMs: 7 * DAY,
    leastMs: HOUR,
    mostMs: 30 * DAY,
    range: 'between 1 hour and 30 days',
  },
  auth_code_lifespan: {
    usualMs: 10 * MINUTE,
    leastMs: 30_000,
    mostMs: 10 * MINUTE,
    range: 'between 30 seconds and 10 minutes',
  },
} as const

/** What an authorization server was configured to do, complete. Times are in milliseconds. */
export interface ServerSettings {
  readonly issuer: string
  /** Where browsers are sent to; usually the issuer. */
  readonly pageBase: string
  /** Of access tokens; the first is that of the workload. */
  readonly audiences: readonly [string, ...string[]]
  readonly scopes: readonly string[]
  /** Scopes that every client gets besides those it registers. */
  readonly baselineScopes: readonly string[]
  /** Who may log in, by what the first upstream provider says. */
  readonly admit: Admit
  readonly accessTokenMs: number
  readonly refreshTokenMs: number
  readonly codeMs: number
  readonly clientDocuments: {
    readonly isOn: boolean
    readonly most: number
    readonly lifetimeMs: number
    /** They may be at http on loopback, for development. */
    readonly allowLoopback: boolean
  }
  /** Clients may register with a secret. */
  readonly allowsConfidential: boolean
}

/** Completes a configuration that has been checked. `url`: what clients of the workload connect to. */
export function toSettings(config: AuthServerConfig, url: string): ServerSettings {
  const own = new URL(url)
  const issuer = trimmed(config.issuer || own.origin)
  const [first, ...others] = config.allowed_audiences ?? []
  const scopes = config.scopes_supported?.length ? config.scopes_supported : DEFAULT_SCOPES
  const { cimd = {}, token_lifespans: given = {} } = config
  const lifespan = (member: keyof typeof LIFESPANS) =>
    parseDuration(given[member] ?? '') || LIFESPANS[member].usualMs
  return {
    issuer,
    pageBase: trimmed(config.authorization_endpoint_base_url || issuer),
    audiences: [first ?? `${issuer}${own.pathname}`, ...others],
    scopes,
    baselineScopes: config.baseline_client_scopes ?? [],
    admit: createAdmit(config.allowed_logins ?? []),
    accessTokenMs: lifespan('access_token_lifespan'),
    refreshTokenMs: lifespan('refresh_token_lifespan'),
    codeMs: lifespan('auth_code_lifespan'),
    clientDocuments: {
      isOn: cimd.enabled === true,
      most: cimd.cache_max_size ?? 256,
      lifetimeMs: parseDuration(cimd.cache_fallback_ttl ?? '') || 5 * MINUTE,
      allowLoopback: cimd.allow_loopback === true,
    },
    allowsConfidential: config.allow_confidential_clients === true,
  }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')
