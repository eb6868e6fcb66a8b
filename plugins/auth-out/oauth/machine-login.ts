import { clientCredentialsGrant } from 'openid-client'
import { failures } from '../failures.ts'
import { openSession, resourceParameter } from './configuration.ts'
import { toGivenClient } from './find-client.ts'
import { toFailure } from './to-failure.ts'
import { toTokenSet } from './token-set.ts'
import type { LoginResult, MachineLoginRequest, Reach } from './types.ts'

/**
 * Gets tokens for a machine: client credentials (RFC 6749 section 4.4) with a secret or a signed assertion (RFC 7523),
 * as the MCP extension `io.modelcontextprotocol/oauth-client-credentials` names it.
 */
export async function loginAsMachine(
  request: MachineLoginRequest,
  reach: Reach,
  clock: () => number,
): Promise<LoginResult> {
  const { issuer } = request.discovery
  try {
    return await requestTokens(request, reach, clock)
  } catch (error) {
    if (reach.signal?.aborted) throw reach.signal.reason
    throw toFailure(error, issuer)
  }
}

/** The same with the errors of openid-client. */
export async function requestTokens(
  { discovery, settings }: MachineLoginRequest,
  reach: Reach,
  clock: () => number,
): Promise<LoginResult> {
  const { issuer, scopes } = discovery
  const client = toGivenClient(discovery, settings)
  if (!client || client.authMethod === 'none') {
    const problem = 'a login without a person needs a client with a secret or a private key'
    throw failures.remote_client_needed({ issuer, problem })
  }
  const { config } = await openSession({ discovery, client, settings }, reach)
  const scope: Record<string, string> = scopes.length ? { scope: scopes.join(' ') } : {}
  const response = await clientCredentialsGrant(config, { ...scope, ...resourceParameter(discovery) })
  return { tokens: toTokenSet(response, { clock, scopes }), client }
}
