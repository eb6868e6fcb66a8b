import type { Actor, Caller } from '../../../src/contracts/caller-auth.ts'
import { failures } from '../failures.ts'
import { groupsOf } from './groups-of.ts'

type Claims = Readonly<Record<string, unknown>>

/** Tokens may name at most this many actors, one behind the other. */
const MOST_ACTORS = 10
/** Types of Keycloak's tokens, in the claim `typ`, that are for somebody else than a server. */
const NOT_ACCESS = new Set(['id', 'refresh', 'offline', 'logout'])

const invalid = (problem: string) => failures.token_invalid({ problem })

/** Claims of ID tokens (OpenID Connect Core, section 3.3.2.11) and of logout tokens (Back-Channel Logout, section 2.4). */
const NEVER_IN_ACCESS = ['at_hash', 'c_hash', 'events']

/** The caller that checked claims describe. Fails with `token_invalid` where they cannot be those of an access token. */
export function toCaller(
  claims: Claims,
  { subject, issuer }: { subject: unknown; issuer: string | undefined },
): Caller {
  if (typeof subject !== 'string' || subject.trim() === '') {
    throw invalid('it says nothing of whom it is for (sub)')
  }
  const { iss, typ, exp } = claims
  const foreign = NEVER_IN_ACCESS.find(claim => claims[claim] !== undefined)
  if (foreign !== undefined) throw invalid(`it is not an access token (claim "${foreign}")`)
  if (typeof typ === 'string' && NOT_ACCESS.has(typ.toLowerCase())) {
    throw invalid('it is not an access token (claim "typ")')
  }
  // JSON can say 1e999.
  if (exp !== undefined && !Number.isSafeInteger(Math.floor(Number(exp)))) {
    throw invalid('its claim "exp" is not what is expected')
  }
  const groups = groupsOf(claims)
  const actors = actorsOf(claims.act)
  return {
    subject,
    issuer: typeof iss === 'string' ? iss : issuer,
    claims,
    ...(groups.length ? { groups } : {}),
    ...(actors.length ? { actors } : {}),
  }
}

/** RFC 8693, section 4.1: the claim `act`, each of which may hold the one before it. */
function actorsOf(act: unknown): Actor[] {
  const actors: Actor[] = []
  for (let current = act; current !== undefined; ) {
    if (typeof current !== 'object' || current === null || Array.isArray(current)) throw unreadable()
    const { sub, iss, act: before }: Claims = { ...current }
    if (typeof sub !== 'string' || !sub || (iss !== undefined && typeof iss !== 'string')) throw unreadable()
    if (actors.length === MOST_ACTORS) throw unreadable()
    actors.push({ subject: sub, ...(iss === undefined ? {} : { issuer: iss }) })
    current = before
  }
  return actors
}

const unreadable = () => invalid('its claim "act" cannot be read')
