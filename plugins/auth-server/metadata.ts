import { AUTH_METHODS } from './clients/client.ts'
import type { ServerSettings } from './settings.ts'

/**
 * Describes the server (RFC 8414, section 2; OpenID Connect Discovery, section 3). `issuer` and the endpoints of
 * programs stand under the issuer, the page of people under its own base.
 */
export function describeServer(
  { issuer, pageBase, scopes, clientDocuments, allowsConfidential }: ServerSettings,
  { grantTypes, algorithm }: { grantTypes: readonly string[]; algorithm: string },
): Readonly<Record<string, unknown>> {
  const secretMethods = AUTH_METHODS.filter(method => method !== 'none')
  const methods = allowsConfidential ? AUTH_METHODS : ['none']
  return {
    issuer,
    authorization_endpoint: `${pageBase}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    ...(allowsConfidential
      ? {
          introspection_endpoint: `${issuer}/oauth/introspect`,
          introspection_endpoint_auth_methods_supported: secretMethods,
        }
      : {}),
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: clientDocuments.isOn,
    // OpenID Connect demands these.
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
  }
}
