import type { Refusal } from '../../src/contracts/caller-auth.ts'
import type { Failure } from '../../src/errors.ts'

const CODES: Readonly<Record<string, string>> = {
  token_missing: 'invalid_request',
  token_invalid: 'invalid_token',
  scope_missing: 'insufficient_scope',
  caller_not_allowed: 'insufficient_scope',
  auth_unavailable: 'temporarily_unavailable',
}
const RETRY_SECONDS = '5'

/** The refusal of a caller: RFC 6750, section 3, with the addition of RFC 9728, section 5.1. */
export function refuse(
  failure: Failure,
  about: { realm: string | undefined; metadataUrl: string | undefined; scopes: readonly string[] },
): Refusal {
  const error = CODES[failure.code] ?? 'invalid_request'
  const body = `${JSON.stringify({ error, error_description: failure.message })}\n`
  const type = { 'content-type': 'application/json' }
  if (failure.status === 503) return { status: 503, headers: { ...type, 'retry-after': RETRY_SECONDS }, body }
  const parameters = {
    realm: about.realm,
    resource_metadata: about.metadataUrl,
    // No scope helps an account that is not allowed here.
    scope: failure.code === 'caller_not_allowed' ? undefined : about.scopes.join(' ') || undefined,
    error,
    error_description: failure.message,
  }
  const challenge = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${quoted(value ?? '')}"`)
  const status = failure.status === 403 ? 403 : 401
  return { status, headers: { ...type, 'www-authenticate': `Bearer ${challenge.join(', ')}` }, body }
}

/** RFC 9110, section 5.6.4; what no header may hold is left out. */
const quoted = (text: string): string => text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')
