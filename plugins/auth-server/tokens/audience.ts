import { canonicalLoopback } from '../../../src/net/loopback-names.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { Parameters } from '../protocol/parameters.ts'

/** Returns the allowed audience that `resource` names (RFC 8707); without it the sole one. */
export function readAudience(parameters: Parameters, audiences: readonly string[]): string {
  const resource = parameters.get('resource')
  if (resource !== undefined) return findAudience(resource, audiences)
  const [only, other] = audiences
  if (only !== undefined && other === undefined) return only
  throw new OAuthError('invalid_target', 'Name the server that the tokens are for with resource (RFC 8707).')
}

/** An empty path is the same as `/` (RFC 3986, section 6.2.3), and each name of loopback the same as the others. */
export function findAudience(resource: string, audiences: readonly string[]): string {
  const asked = canonicalLoopback(resource)
  const found = resource.includes('#')
    ? undefined
    : audiences.find(audience => canonicalLoopback(audience) === asked)
  if (found !== undefined) return found
  throw new OAuthError('invalid_target', 'This server issues no tokens for that resource.')
}

/** Fails with `invalid_target` where a token request names another resource than was granted. */
export function assertSameAudience(parameters: Parameters, audience: string): void {
  const resource = parameters.get('resource')
  if (resource !== undefined) findAudience(resource, [audience])
}
