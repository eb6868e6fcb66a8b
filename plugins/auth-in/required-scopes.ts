import type { Caller } from '../../src/contracts/caller-auth.ts'
import { failures } from './failures.ts'

/**
 * Scopes of OpenID Connect Core (sections 3.1.2.1, 5.4 and 11). They are about what the provider tells of a person, and
 * many access tokens do not have them, so they are announced and not required.
 */
const OF_PROVIDER: ReadonlySet<string> = new Set([
  ...['openid', 'profile', 'email', 'address', 'phone', 'offline_access'],
])

/** The scopes that a token must have, of those that callers are told to request. */
export const requiredScopes = (scopes: readonly string[]): string[] =>
  scopes.filter(scope => !OF_PROVIDER.has(scope))

/** Fails with `scope_missing`, naming the scopes that a token lacks. */
export function assertScopes({ claims }: Caller, required: readonly string[]): void {
  if (required.length === 0) return
  const granted = new Set([...scopesIn(claims.scope), ...scopesIn(claims.scp)])
  const missing = required.filter(scope => !granted.has(scope))
  if (missing.length) throw failures.scope_missing({ scopes: missing })
}

/** Separated by spaces (RFC 8693, section 4.2), or a list, as Okta and others have it. */
const scopesIn = (value: unknown): unknown[] =>
  typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
