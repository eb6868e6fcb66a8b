import { createHash } from 'node:crypto'
import { failures as coreFailures } from '../../../src/errors.ts'
import { clientIdUrlProblem } from '../../../src/login/client-id-url.ts'
import type { ServerMetadata } from './types.ts'

export const CLIENT_NAME = 'keelson'
export const CALLBACK_PATH = '/callback'
/** Registered with many a provider as `http://localhost:8666/callback`. */
export const DEFAULT_CALLBACK_PORT = 8666
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** Grants that need a person; a server may support fewer. */
const GRANTS = ['authorization_code', 'refresh_token', DEVICE_GRANT]

/** What we say of ourselves when we register, and in the document (RFC 7591 section 2). */
export function clientMetadata(options: {
  redirectUris: readonly string[]
  /** Those of the server; undefined: it does not say. */
  grants?: readonly string[] | undefined
}): Record<string, unknown> {
  const { redirectUris, grants } = options
  const wanted = grants
    ? GRANTS.filter(grant => grant !== DEVICE_GRANT || grants.includes(grant))
    : GRANTS.slice(0, 2)
  return {
    client_name: CLIENT_NAME,
    redirect_uris: redirectUris,
    application_type: 'native',
    grant_types: wanted,
    response_types: ['code'],
  }
}

/** Where a browser comes back to (RFC 8252 section 7.3). */
export const redirectUriOf = (port: number, path: string): string => `http://localhost:${port}${path}`

/**
 * The path of the redirect URI to register at a server. A server that does not promise to name itself in its responses
 * (RFC 9207) gets one of its own, so that no response of another server is taken for its response (mix-up, RFC 9700
 * section 4.4.2).
 */
export const callbackPathFor = ({
  issuer,
  authorization_response_iss_parameter_supported: namesItself,
}: ServerMetadata): string =>
  namesItself
    ? CALLBACK_PATH
    : `${CALLBACK_PATH}/${createHash('sha256').update(issuer).digest('hex').slice(0, 16)}`

/**
 * The client ID metadata document to host at `url` (draft-ietf-oauth-client-id-metadata-document). Redirect URIs
 * without port are for servers that accept any port on loopback (RFC 8252). Fails with `usage` for another URL.
 */
export function createClientMetadataDocument(
  url: string,
  port: number = DEFAULT_CALLBACK_PORT,
): Record<string, unknown> {
  const problem = clientIdUrlProblem(url)
  if (problem) throw coreFailures.usage({ text: `${url} cannot be a client ID: ${problem}.` })
  const hosts = ['localhost', '127.0.0.1', '[::1]']
  const redirectUris = [`:${port}`, ''].flatMap(at =>
    hosts.map(host => `http://${host}${at}${CALLBACK_PATH}`),
  )
  return {
    client_id: url,
    ...clientMetadata({ redirectUris, grants: GRANTS }),
    token_endpoint_auth_method: 'none',
  }
}
