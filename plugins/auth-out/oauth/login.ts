import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { CALLBACK_PATH, callbackPathFor } from './client-metadata.ts'
import { loginByCode } from './code-flow.ts'
import { endpointsOf } from './configuration.ts'
import { hasDeviceFlow, loginByDevice } from './device-flow.ts'
import { union } from './discover.ts'
import { type ClientChoice, findClients } from './find-client.ts'
import { registerClient } from './register-client.ts'
import { refusalOf } from './to-failure.ts'
import type { ClientIdentity, LoginRequest, LoginResult, Reach } from './types.ts'

/** Codes that refuse the client, not the person (RFC 6749 sections 4.1.2.1 and 5.2). */
const CLIENT_REFUSED = ['invalid_client', 'unauthorized_client']

/**
 * Logs a person in. Where a server does not take one identity as a client, the next one is tried: a metadata document
 * that it cannot read, or a registration that it has forgotten, gives way to a new registration.
 */
export async function login(request: LoginRequest, reach: Reach, clock: () => number): Promise<LoginResult> {
  const { discovery } = request
  const { issuer, server } = discovery
  const choices = findClients(request)
  if (!choices.length) {
    const problem = server.client_id_metadata_document_supported
      ? 'it wants the URL of a client metadata document'
      : 'it does not register clients'
    throw failures.remote_client_needed({ issuer, problem })
  }
  for (const [index, choice] of choices.entries()) {
    try {
      return await attempt(choice, request, reach, clock)
    } catch (error) {
      const isLast = index === choices.length - 1
      const isRefused = CLIENT_REFUSED.includes(refusalOf(error) ?? '')
      const isTaken = choice.kind === 'known' && isFailure(error, 'remote_login_port_taken')
      if (isLast || !(isRefused || isTaken)) throw error
    }
  }
  throw failures.remote_client_needed({ issuer, problem: 'it refuses all we could be' })
}

/** On another device where no browser is to be opened here, else in the browser. */
async function attempt(
  choice: ClientChoice,
  request: LoginRequest,
  reach: Reach,
  clock: () => number,
): Promise<LoginResult> {
  const { discovery, person, grantedScopes } = request
  const { issuer, server } = discovery
  const scopes = union(grantedScopes ?? [], discovery.scopes)
  const ownPath = request.callbackPath ?? callbackPathFor(server)
  const identify = (port: number): Promise<ClientIdentity> =>
    choice.kind === 'known'
      ? Promise.resolve(choice.client)
      : registerClient({ discovery, port, path: ownPath, scopes }, endpointsOf(discovery, reach))
  const byDevice = async (client: ClientIdentity): Promise<LoginResult | undefined> => {
    try {
      return await loginByDevice({ ...request, scopes, client }, reach, clock)
    } catch (error) {
      // Some servers have the endpoint and do not let this client use it.
      if (refusalOf(error) === 'unauthorized_client') return undefined
      throw error
    }
  }
  let same = choice.kind === 'known' ? choice.client : undefined
  if (!person.openBrowser && hasDeviceFlow(server)) {
    same ??= await identify(choice.port)
    const result = await byDevice(same)
    if (result) return result
  }
  if (server.authorization_endpoint === undefined) {
    throw failures.remote_issuer_invalid({ issuer, problem: 'it names no page to log in at' })
  }
  const methods = server.code_challenge_methods_supported
  const isKnown = methods ? methods.includes('S256') : request.assumePkce || discovery.found === 'none'
  if (!isKnown) throw failures.remote_pkce_missing({ issuer })
  return loginByCode(
    {
      ...request,
      scopes,
      port: choice.port,
      path: choice.kind === 'new' ? ownPath : (choice.client.callbackPath ?? CALLBACK_PATH),
      anyPort: choice.kind === 'new' && choice.anyPort && same === undefined,
      identify: port => (same ? Promise.resolve(same) : identify(port)),
      withoutBrowser: person.openBrowser && hasDeviceFlow(server) ? byDevice : undefined,
    },
    reach,
    clock,
  )
}
