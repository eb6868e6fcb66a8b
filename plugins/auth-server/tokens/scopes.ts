import { OAuthError } from '../protocol/oauth-error.ts'
import { type Parameters, quotable } from '../protocol/parameters.ts'

/** Returns the scopes that a request names, all of which have to be allowed; without any, all that are. */
export function readScopes(parameters: Parameters, allowed: readonly string[]): readonly string[] {
  const asked = [...new Set(parameters.get('scope')?.split(' ').filter(Boolean))]
  const unknown = asked.find(scope => !allowed.includes(scope))
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', `The scope ${quotable(unknown)} is not granted to this client.`)
  return asked.length ? asked : allowed
}
