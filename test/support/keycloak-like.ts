import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

const REALM = '/realms/tools'
const PROTOCOL = `${REALM}/protocol/openid-connect`

/** An identity provider that does what is particular to Keycloak: realms, audiences in lists, types in claims. */
export interface KeycloakLike {
  /** Has a path: the realm. */
  readonly issuer: string
  readonly audience: string
  readonly introspectionUrl: string
  /** The client that may introspect. */
  readonly client: { readonly id: string; readonly secret: string }
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[]
  /** An access token of a person; claims that are undefined are left out. */
  token(claims?: Record<string, unknown>): Promise<string>
  /** An ID token for the client whose name the audience is. */
  idToken(): Promise<string>
  /** A token that only the provider can read. */
  opaqueToken(claims?: Record<string, unknown>): string
  /** Ends the session of all tokens so far. */
  logout(): void
  /** Signs with a new key from now on; the one before stays published. */
  rotate(alg?: 'PS256' | 'EdDSA'): Promise<void>
}

/** Starts one that ends with the test. */
export async function keycloakLike({
  alg = 'PS256',
}: {
  alg?: 'PS256' | 'EdDSA'
} = {}): Promise<KeycloakLike> {
  const audience = 'tools'
  const client = { id: 'proxy', secret: 'secret-of-the-proxy' }
  const keys: JWK[] = [await encryptionKey()]
  const asked: string[] = []
  const opaque = new Map<string, Record<string, unknown>>()
  let current: { kid: string; alg: string; key: CryptoKey }

  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const send = (value: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (path === `${REALM}/.well-known/openid-configuration`) {
      return send({
        issuer,
        jwks_uri: `${origin}${PROTOCOL}/certs`,
        introspection_endpoint: introspectionUrl,
      })
    }
    if (path === `${PROTOCOL}/certs`) return send({ keys })
    if (path === `${PROTOCOL}/token/introspect`) return introspect(request).then(send)
    return send({ error: 'RESTEASY003210: Could not find resource' }, 404)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = `${origin}${REALM}`
  const introspectionUrl = `${origin}${PROTOCOL}/token/introspect`

  async function introspect(request: IncomingMessage): Promise<object> {
    let body = ''
    for await (const chunk of request) body += chunk
    const login = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`
    if (request.headers.authorization !== login) return { error: 'invalid_client' }
    const claims = opaque.get(new URLSearchParams(body).get('token') ?? '')
    return claims
      ? { ...claims, active: true, client_id: claims.azp, token_type: 'Bearer' }
      : { active: false }
  }

  async function rotate(next: 'PS256' | 'EdDSA' = alg): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(next)
    current = { kid: randomUUID(), alg: next, key: privateKey }
    keys.push({ ...(await exportJWK(publicKey)), kid: current.kid, alg: next, use: 'sig' })
  }
  await rotate()

  function accessClaims(more: Record<string, unknown>): Record<string, unknown> {
    const seconds = Math.floor(Date.now() / 1000)
    const all = {
      exp: seconds + 300,
      iat: seconds,
      jti: `onrtac:${randomUUID()}`,
      iss: issuer,
      aud: [audience, 'account'],
      sub: 'f3b1c0de-0000-4000-8000-000000000001',
      typ: 'Bearer',
      azp: 'editor',
      sid: randomUUID(),
      'allowed-origins': ['*'],
      realm_access: { roles: ['offline_access', 'uma_authorization', 'team-a'] },
      resource_access: { account: { roles: ['manage-account'] } },
      scope: 'openid profile email',
      email_verified: true,
      preferred_username: 'ada',
      email: 'ada@example.com',
      ...more,
    }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }

  const sign = (claims: Record<string, unknown>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: current.alg, typ: 'JWT', kid: current.kid })
      .sign(current.key)

  return {
    ...{ issuer, audience, introspectionUrl, client, asked },
    token: async (claims = {}) => sign(accessClaims(claims)),
    idToken: async () => sign(accessClaims({ typ: 'ID', aud: audience, azp: audience, scope: undefined })),
    opaqueToken(claims = {}) {
      const token = randomUUID()
      opaque.set(token, accessClaims(claims))
      return token
    },
    logout: () => opaque.clear(),
    rotate,
  }
}

/** Keycloak publishes a key for encryption among the others. */
async function encryptionKey(): Promise<JWK> {
  const { publicKey } = await generateKeyPair('RSA-OAEP')
  return { ...(await exportJWK(publicKey)), kid: randomUUID(), alg: 'RSA-OAEP', use: 'enc' }
}
