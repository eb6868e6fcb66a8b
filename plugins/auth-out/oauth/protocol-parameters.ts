/**
 * Parameters of an authorization URL that neither user nor registry entry may set: the protection of the login hangs on
 * them (RFC 6749, RFC 7636, RFC 8707, RFC 9101, OAuth 2.0 Multiple Response Type Encoding Practices).
 */
export const PROTOCOL_PARAMETERS: readonly string[] = [
  'response_type',
  'response_mode',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'redirect_uri',
  'state',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'request',
  'request_uri',
  'resource',
]
