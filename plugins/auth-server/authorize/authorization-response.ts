import type { OAuthError } from '../protocol/oauth-error.ts'
import type { ReturnAddress } from './authorization-request.ts'

/** Returns the URL that tells a client its code (RFC 6749, section 4.1.2), with `iss` (RFC 9207). */
export const codeUrl = (address: ReturnAddress, issuer: string, code: string): string =>
  responseUrl(address, issuer, { code })

/** Returns the URL that tells a client what went wrong (RFC 6749, section 4.1.2.1). */
export const errorUrl = (address: ReturnAddress, issuer: string, { code, message }: OAuthError): string =>
  responseUrl(address, issuer, { error: code, error_description: message })

function responseUrl(
  { redirectUri, state }: ReturnAddress,
  issuer: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  if (state !== undefined) url.searchParams.set('state', state)
  url.searchParams.set('iss', issuer)
  return url.href
}
