import { parseChallenges } from '../../../src/net/challenges.ts'
import type { BearerChallenge } from './types.ts'

/** Some servers call the scheme of RFC 6750 by its older name. */
const SCHEMES = ['bearer', 'oauth']
/** RFC 6749 section 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/
const MOST_SCOPES = 200
const LONGEST = 2048

/**
 * Reads a response that refuses a request: the Bearer challenge in it, of several the one that says most. A 401
 * without any challenge demands a login too. Undefined for other statuses, other schemes, and 403 without challenge.
 */
export function readChallenge(
  status: number,
  wwwAuthenticate: string | undefined,
): BearerChallenge | undefined {
  if (status !== 401 && status !== 403) return undefined
  const challenges = parseChallenges(wwwAuthenticate ?? '').filter(({ scheme }) => SCHEMES.includes(scheme))
  const says = (name: string) => challenges.find(({ parameters }) => parameters[name] !== undefined)
  const best = says('resource_metadata') ?? says('scope') ?? challenges[0]
  if (!best) return status === 401 && !wwwAuthenticate?.trim() ? { status } : undefined
  const { realm, scope, error, error_description, resource_metadata } = best.parameters
  return {
    status,
    realm: short(realm),
    scopes: scope === undefined ? undefined : toScopes(scope),
    error: short(error),
    errorDescription: short(error_description),
    resourceMetadata: short(resource_metadata),
  }
}

/** Schemes of a `WWW-Authenticate` header, in lower case. */
export const schemesOf = (wwwAuthenticate: string | undefined): string[] => [
  ...new Set(parseChallenges(wwwAuthenticate ?? '').map(({ scheme }) => scheme)),
]

/** The scope tokens of a text; what is no token is left out. */
export const toScopes = (text: string): string[] =>
  [...new Set(text.split(' '))].filter(scope => SCOPE_TOKEN.test(scope)).slice(0, MOST_SCOPES)

const short = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= LONGEST ? text : undefined
