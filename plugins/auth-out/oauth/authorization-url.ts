import { PROTOCOL_PARAMETERS } from './protocol-parameters.ts'
import type { ClientIdentity, Discovery, LoginSettings } from './types.ts'

/**
 * The URL that the browser is sent to (RFC 6749 section 4.1.1, RFC 7636 section 4.3, RFC 8707 section 2). Parameters
 * that the endpoint has already stay.
 */
export function authorizationUrl(options: {
  readonly discovery: Discovery
  readonly client: ClientIdentity
  readonly settings: LoginSettings
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly state: string
  readonly challenge: string
}): string {
  const { discovery, client, settings, scopes } = options
  const url = new URL(discovery.server.authorization_endpoint ?? '')
  const words = url.searchParams
  for (const [name, value] of Object.entries(settings.parameters ?? {})) {
    if (!PROTOCOL_PARAMETERS.includes(name)) words.set(name, value)
  }
  // Without it a provider ignores the wish for refresh tokens (OpenID Connect Core section 11).
  if (scopes.includes('offline_access') && !words.has('prompt')) words.set('prompt', 'consent')
  if (scopes.length) words.set(settings.scopeParameter ?? 'scope', scopes.join(' '))
  if (discovery.resource) words.set('resource', discovery.resource)
  words.set('response_type', 'code')
  words.set('client_id', client.clientId)
  words.set('redirect_uri', options.redirectUri)
  words.set('state', options.state)
  words.set('code_challenge', options.challenge)
  words.set('code_challenge_method', 'S256')
  return url.href
}
