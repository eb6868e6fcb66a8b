import { createHash } from 'node:crypto'
import { OAuthError } from './oauth-error.ts'
import type { Parameters } from './parameters.ts'
import { isSame } from './secrets.ts'

/** A SHA-256 in base64url, and a verifier (RFC 7636, sections 4.1 and 4.2). */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** Returns the challenge of an authorization request. Without one, or with another method than S256, it is refused. */
export function readChallenge(parameters: Parameters): string {
  const challenge = parameters.get('code_challenge')
  if (challenge === undefined)
    throw new OAuthError('invalid_request', 'PKCE is required: send code_challenge (RFC 7636).')
  // Without a method `plain` is meant.
  if (parameters.get('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  if (CHALLENGE.test(challenge)) return challenge
  throw new OAuthError('invalid_request', 'code_challenge is not a SHA-256 in base64url.')
}

/** Fails with `invalid_grant` unless the verifier of a token request belongs to the challenge. */
export function assertVerifier(verifier: string | undefined, challenge: string): void {
  if (verifier === undefined)
    throw new OAuthError('invalid_request', 'The parameter code_verifier is missing.')
  const made = createHash('sha256').update(verifier).digest('base64url')
  if (!VERIFIER.test(verifier) || !isSame(made, challenge))
    throw new OAuthError('invalid_grant', 'code_verifier does not belong to code_challenge.')
}
