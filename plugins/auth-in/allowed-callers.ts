import type { Caller } from '../../src/contracts/caller-auth.ts'
import { isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** Claims whose text is a space-separated list: RFC 8693, section 4.2, and what Entra ID calls it. */
const SPACE_SEPARATED: ReadonlySet<string> = new Set(['scope', 'scp'])

/** The allowed values of each claim. */
export type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Reads `claim=value` rules. Values of one claim are alternatives. Fails with `auth_config_invalid`.
 */
export function parseAllowed(rules: readonly string[]): AllowedValues {
  const allowed = new Map<string, Set<string>>()
  for (const rule of rules) {
    const at = rule.indexOf('=')
    const [claim, value] = at < 0 ? ['', ''] : [rule.slice(0, at), rule.slice(at + 1)]
    if (!claim || !value) {
      throw failures.auth_config_invalid({
        problem: `--oidc-allow "${rule}" does not have the form claim=value`,
        hint: 'For example: --oidc-allow email=ada@example.com, --oidc-allow groups=admins.',
      })
    }
    allowed.set(claim, (allowed.get(claim) ?? new Set()).add(value))
  }
  return allowed
}

/**
 * Fails with `caller_not_allowed` unless every claim that has a rule has one of its values. A list has a
 * value when one of its members is that value; numbers and truth values are compared as they are written.
 */
export function assertAllowed({ claims }: Caller, allowed: AllowedValues): void {
  for (const [claim, values] of allowed) {
    if (!valuesOf(claims, claim).some(value => values.has(value)))
      throw failures.caller_not_allowed({
        problem: `its claim "${claim}" does not match any --oidc-allow rule`,
      })
    if (claim === 'email' && !valuesOf(claims, 'email_verified').includes('true'))
      throw failures.caller_not_allowed({ problem: 'its e-mail address is not verified (email_verified)' })
  }
}

/**
 * Returns the values by which the rules allow a caller, by claim; undefined where they do not. The rules judge what is
 * returned as they judge the caller, so that it can be judged again when they have changed.
 */
export function allowedBy(
  caller: Caller,
  allowed: AllowedValues,
): Readonly<Record<string, readonly string[]>> | undefined {
  try {
    assertAllowed(caller, allowed)
  } catch (error) {
    if (isFailure(error, 'caller_not_allowed')) return undefined
    throw error
  }
  const found = [...allowed].map(
    ([claim, values]) => [claim, valuesOf(caller.claims, claim).filter(value => values.has(value))] as const,
  )
  return { ...Object.fromEntries(found), ...(allowed.has('email') ? { email_verified: ['true'] } : {}) }
}

function valuesOf(claims: Readonly<Record<string, unknown>>, claim: string): string[] {
  const value = findClaim(claims, claim)
  if (typeof value === 'string' && SPACE_SEPARATED.has(claim)) return value.split(' ')
  return [value].flat().flatMap(one => (isPlain(one) ? String(one) : []))
}

/** Finds a claim by its whole name, which may contain dots, else by its path through other claims. */
function findClaim(claims: Readonly<Record<string, unknown>>, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim]
  let value: unknown = claims
  for (const part of claim.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
