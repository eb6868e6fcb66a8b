import { OAuthError } from '../protocol/oauth-error.ts'
import { quotable } from '../protocol/parameters.ts'
import type { ServerSettings } from '../settings.ts'
import {
  ASSERTION_GRANT,
  AUTH_METHODS,
  type AuthMethod,
  CODE_GRANT,
  EXCHANGE_GRANT,
  REFRESH_GRANT,
} from './client.ts'
import { isPrivateUse, redirectUriProblem } from './redirect-uri.ts'

/** What a client says of itself (RFC 7591, section 2), checked. */
export interface ClientMetadata {
  readonly name?: string | undefined
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  readonly authMethod: AuthMethod
}

const GRANT_TYPES: readonly string[] = [CODE_GRANT, REFRESH_GRANT, EXCHANGE_GRANT, ASSERTION_GRANT]
const MOST_REDIRECT_URIS = 10
const LONGEST_NAME = 256
/** What can steer a terminal or a page's reading order: C0 and C1 controls, bidirectional controls (UAX #9). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

const invalid = (description: string) => new OAuthError('invalid_client_metadata', description)

/**
 * Checks what a client says of itself. Fails with `invalid_client_metadata` or `invalid_redirect_uri`. `allowed`:
 * what clients may have here.
 */
export function readClientMetadata(
  document: Readonly<Record<string, unknown>>,
  allowed: Pick<ServerSettings, 'scopes' | 'baselineScopes'> &
    Partial<Pick<ServerSettings, 'allowsConfidential'>>,
): ClientMetadata {
  readText(document, 'software_id')
  for (const member of ['jwks', 'jwks_uri', 'software_statement', 'sector_identifier_uri']) {
    if (document[member] !== undefined) throw invalid(`${member} is not supported.`)
  }
  const responseTypes = readList(document, 'response_types') ?? ['code']
  if (responseTypes.some(type => type !== 'code')) throw invalid('The only response type is code.')
  const authMethod = readAuthMethod(document, allowed.allowsConfidential === true)
  return {
    name: readText(document, 'client_name'),
    redirectUris: readRedirectUris(document, authMethod),
    scopes: readScopes(document, allowed),
    grantTypes: readGrantTypes(document, authMethod),
    authMethod,
  }
}

/** Where no client has a secret, one that wants a secret is registered without: it is told so (RFC 7591, section 3.2.1). */
function readAuthMethod(
  document: Readonly<Record<string, unknown>>,
  allowsConfidential: boolean,
): AuthMethod {
  const asked = document.token_endpoint_auth_method ?? 'none'
  const known = AUTH_METHODS.find(method => method === asked)
  if (!known) throw invalid('token_endpoint_auth_method is not supported.')
  return allowsConfidential ? known : 'none'
}

function readRedirectUris(document: Readonly<Record<string, unknown>>, authMethod: AuthMethod): string[] {
  const uris = document.redirect_uris
  const wrong = (description: string) => new OAuthError('invalid_redirect_uri', description)
  if (!Array.isArray(uris) || uris.length === 0) throw wrong('redirect_uris is missing or empty.')
  if (uris.length > MOST_REDIRECT_URIS)
    throw wrong(`redirect_uris has more than ${MOST_REDIRECT_URIS} members.`)
  return uris.map(uri => {
    if (typeof uri !== 'string') throw wrong('redirect_uris holds something other than texts.')
    const problem = redirectUriProblem(uri)
    if (problem !== undefined) throw wrong(`A redirect URI ${problem}: ${quotable(uri)}`)
    // RFC 8252, section 8.4: a program on somebody's computer keeps no secret.
    if (authMethod !== 'none' && isPrivateUse(uri))
      throw wrong(`A client with a secret has a redirect URI with a scheme of its own: ${quotable(uri)}`)
    return uri
  })
}

/** Grants that nobody has here are refused, so that a client does not rely on them. */
function readGrantTypes(document: Readonly<Record<string, unknown>>, authMethod: AuthMethod): string[] {
  const asked = readList(document, 'grant_types') ?? [CODE_GRANT, REFRESH_GRANT]
  const unknown = asked.find(type => !GRANT_TYPES.includes(type))
  if (unknown !== undefined) throw invalid(`There is no grant ${quotable(unknown)} here.`)
  const forSecret = asked.find(type => type === EXCHANGE_GRANT || type === ASSERTION_GRANT)
  if (forSecret !== undefined && authMethod === 'none')
    throw invalid(`Only clients with a secret can use ${forSecret}.`)
  if (!asked.includes(CODE_GRANT)) throw invalid(`grant_types must contain ${CODE_GRANT}.`)
  return [...new Set(asked)]
}

function readScopes(
  document: Readonly<Record<string, unknown>>,
  { scopes, baselineScopes }: { scopes: readonly string[]; baselineScopes: readonly string[] },
): string[] {
  const text = document.scope
  if (text !== undefined && typeof text !== 'string') throw invalid('scope is not a text.')
  const asked = text?.split(' ').filter(Boolean) ?? []
  const unknown = asked.find(scope => !scopes.includes(scope))
  if (unknown !== undefined) throw invalid(`There is no scope ${quotable(unknown)}.`)
  return [...new Set([...(asked.length ? asked : scopes), ...baselineScopes])]
}

function readText(document: Readonly<Record<string, unknown>>, member: string): string | undefined {
  const value = document[member]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw invalid(`${member} is not a text.`)
  if ([...value].length > LONGEST_NAME) throw invalid(`${member} is longer than ${LONGEST_NAME} characters.`)
  if (CONTROLS.test(value)) throw invalid(`${member} holds control characters.`)
  return value
}

function readList(document: Readonly<Record<string, unknown>>, member: string): string[] | undefined {
  const value = document[member]
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length > 16) throw invalid(`${member} is not a short list.`)
  return value.map(one => {
    if (typeof one !== 'string') throw invalid(`${member} holds something other than texts.`)
    return one
  })
}
