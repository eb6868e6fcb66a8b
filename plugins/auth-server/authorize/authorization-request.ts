import type { IncomingMessage } from 'node:http'
import type { FindClient } from '../clients/client.ts'
import { type Client, CODE_GRANT } from '../clients/client.ts'
import { isRegistered } from '../clients/redirect-uri.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { type Parameters, required } from '../protocol/parameters.ts'
import { readChallenge } from '../protocol/pkce.ts'
import type { ServerSettings } from '../settings.ts'
import { readAudience } from '../tokens/audience.ts'
import { readScopes } from '../tokens/scopes.ts'

/** Where the outcome of an authorization request goes. */
export interface ReturnAddress {
  readonly redirectUri: string
  readonly state?: string | undefined
}

/** A checked authorization request (RFC 6749, section 4.1.1). It can be written as JSON. */
export interface AuthorizationRequest extends ReturnAddress {
  readonly clientId: string
  readonly clientName?: string | undefined
  readonly challenge: string
  /** Comes back in the ID token (OpenID Connect Core, section 3.1.2.1). */
  readonly nonce?: string | undefined
  readonly scopes: readonly string[]
  readonly audience: string
  /** Whether the client gets refresh tokens. */
  readonly refreshes: boolean
  /** The person has to be asked even if they agreed before (`prompt=consent`). */
  readonly asksAgain: boolean
}

const LONGEST_STATE = 2048
const LONGEST_NONCE = 512

/**
 * Finds the client and where it may be sent back to. Until that is known, errors are shown to the person and no
 * client hears of them (RFC 6749, section 4.1.2.1).
 */
export async function findSender(
  find: FindClient,
  parameters: Parameters,
  request: IncomingMessage,
): Promise<{ client: Client; address: ReturnAddress }> {
  const client = await find(required(parameters, 'client_id'), request)
  if (!client) throw new OAuthError('invalid_client', 'The client is not known here.')
  const redirectUri = required(parameters, 'redirect_uri')
  if (!isRegistered(redirectUri, client.redirectUris))
    throw new OAuthError('invalid_request', 'redirect_uri is not one that the client registered.')
  const state = parameters.get('state')
  if (state !== undefined && state.length > LONGEST_STATE)
    throw new OAuthError('invalid_request', `state is longer than ${LONGEST_STATE} characters.`)
  return { client, address: { redirectUri, state } }
}

/** Checks the rest of an authorization request. What it throws goes to the client. */
export function readAuthorizationRequest(
  parameters: Parameters,
  { client, address }: { client: Client; address: ReturnAddress },
  settings: ServerSettings,
): AuthorizationRequest {
  assertSupported(parameters)
  if (!client.grantTypes.includes(CODE_GRANT))
    throw new OAuthError('unauthorized_client', 'The client is not registered for authorization codes.')
  const challenge = readChallenge(parameters)
  const nonce = parameters.get('nonce')
  if (nonce !== undefined && nonce.length > LONGEST_NONCE)
    throw new OAuthError('invalid_request', `nonce is longer than ${LONGEST_NONCE} characters.`)
  const prompts = parameters.get('prompt')?.split(' ') ?? []
  // A person always logs in at the provider, so nothing can be decided without showing them anything.
  if (prompts.includes('none'))
    throw new OAuthError('login_required', 'Nobody can log in here without a page (prompt=none).')
  return {
    ...address,
    clientId: client.id,
    clientName: client.name,
    challenge,
    nonce,
    scopes: readScopes(parameters, client.scopes),
    audience: readAudience(parameters, settings.audiences),
    refreshes: client.grantTypes.includes('refresh_token'),
    asksAgain: prompts.includes('consent'),
  }
}

function assertSupported(parameters: Parameters): void {
  // OpenID Connect Core, section 6.
  if (parameters.has('request'))
    throw new OAuthError('request_not_supported', 'Request objects are not supported.')
  if (parameters.has('request_uri'))
    throw new OAuthError('request_uri_not_supported', 'Request objects are not supported.')
  if (required(parameters, 'response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'The only response_type is code.')
  if ((parameters.get('response_mode') ?? 'query') !== 'query')
    throw new OAuthError('invalid_request', 'The only response_mode is query.')
}
