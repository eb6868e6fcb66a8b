import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  PrivateKeyJwt,
} from 'openid-client'
import { RESPONSE_MS } from './get-document.ts'
import { type Endpoints, oauthFetch } from './oauth-fetch.ts'
import { readSigningKey } from './signing-key.ts'
import type { ClientIdentity, Discovery, LoginSettings, Reach } from './types.ts'

/** A client at a server, ready for requests. */
export interface Session {
  readonly config: Configuration
  /** The ID token that the last response held. */
  idToken(): string | undefined
}

export const endpointsOf = ({ mayBePrivate }: Discovery, reach: Reach): Endpoints => ({
  ...reach,
  mayBePrivate,
})

/** The parameter that names the resource (RFC 8707 section 2). */
export const resourceParameter = ({ resource }: Discovery): { resource?: string } =>
  resource ? { resource } : {}

/** Fails with `remote_key_invalid` for a signing key that cannot be used. */
export async function openSession(
  {
    discovery,
    client,
    settings,
  }: {
    readonly discovery: Discovery
    readonly client: ClientIdentity
    readonly settings: LoginSettings
  },
  reach: Reach,
): Promise<Session> {
  let idToken: string | undefined
  const { server } = discovery
  const config = new Configuration(
    structuredClone(server) as ConstructorParameters<typeof Configuration>[0],
    client.clientId,
    {},
    await authenticate(client, settings),
  )
  allowInsecureRequests(config) // which addresses may be plain http is judged by the fetch
  config.timeout = ((reach.timeoutMs ?? RESPONSE_MS) + 1000) / 1000
  config[customFetch] = oauthFetch(endpointsOf(discovery, reach), token => {
    idToken = token
  })
  return { config, idToken: () => idToken }
}

async function authenticate(
  { authMethod, clientSecret }: ClientIdentity,
  { privateKey = '', privateKeyAlgorithm }: LoginSettings,
): Promise<ClientAuth> {
  switch (authMethod) {
    case 'none':
      return None()
    case 'client_secret_basic':
      return basic(clientSecret ?? '')
    case 'client_secret_post':
      return ClientSecretPost(clientSecret)
    case 'private_key_jwt':
      return PrivateKeyJwt(await readSigningKey(privateKey, privateKeyAlgorithm))
  }
}

/**
 * RFC 6749 section 2.3.1: both parts are encoded as in forms first. openid-client encodes `-`, `_` and `.` too, which
 * servers that do not decode take for another client.
 */
const basic =
  (secret: string): ClientAuth =>
  (_server, { client_id: id }, _body, headers) => {
    const pair = [id, secret].map(part => new URLSearchParams({ '': part }).toString().slice(1)).join(':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }
