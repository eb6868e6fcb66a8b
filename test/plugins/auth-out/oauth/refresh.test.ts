import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { createOAuthEngine } from '../../../../plugins/auth-out/oauth/engine.ts'
import { readRegistration } from '../../../../plugins/auth-out/oauth/register-client.ts'
import type { ClientIdentity, Discovery, RefreshRequest } from '../../../../plugins/auth-out/oauth/types.ts'
import { registryServer, sendJson } from '../../../support/registry-server.ts'
import { oddIssuer } from './odd-issuer.ts'

const NOW = 1_000_000
const engine = createOAuthEngine({ clock: () => NOW })
const reach = { target: 'https://mcp.invalid/mcp', timeoutMs: 2000 }

function requestTo(issuer: string): RefreshRequest {
  const discovery: Discovery = {
    issuer,
    server: { issuer, token_endpoint: `${issuer}/token`, registration_endpoint: `${issuer}/register` },
    found: 'settings',
    resource: reach.target,
    scopes: ['read'],
    mayBePrivate: true,
  }
  const client: ClientIdentity = { kind: 'given', issuer, clientId: 'mine', authMethod: 'none' }
  return { discovery, client, settings: {}, tokens: { refreshToken: 'rt', scopes: ['read'] } }
}

test('a refresh keeps the refresh token and the scopes that the server does not mention', async () => {
  const { issuer, sent } = await oddIssuer({
    token: () => ({ status: 200, body: { access_token: 'new', token_type: 'bearer', expires_in: 60 } }),
  })

  expect(await engine.refresh(requestTo(issuer), reach)).toEqual({
    kind: 'renewed',
    tokens: {
      accessToken: 'new',
      refreshToken: 'rt',
      idToken: undefined,
      expiresAt: NOW + 60_000,
      scopes: ['read'],
    },
  })
  expect(sent[0]?.body).toMatchObject({ refresh_token: 'rt', resource: reach.target, client_id: 'mine' })
})

test('a token that is good for ages ends never', async () => {
  const body = { access_token: 'new', token_type: 'bearer', expires_in: 2 ** 63 }
  const { issuer } = await oddIssuer({ token: () => ({ status: 200, body }) })

  const result = await engine.refresh(requestTo(issuer), reach)

  expect(result).toMatchObject({ kind: 'renewed', tokens: { accessToken: 'new', expiresAt: undefined } })
})

test('a client secret that is good for ages ends never', () => {
  const { discovery } = requestTo('https://login.example')
  const said = { client_id: 'a', client_secret: 's', client_secret_expires_at: 1e18 }

  const client = readRegistration(said, { discovery, port: 1024, path: '/callback' })

  expect(client).toMatchObject({ clientSecret: 's', secretExpiresAt: undefined })
})

const error = (code: string) => ({ error: code })
const json = { 'content-type': 'application/json' }

test.each([
  ['a 500', 500, error('server_error'), {}],
  ['a 503 that says when to come again', 503, '', { 'retry-after': '7' }],
  ['a 429, even with an OAuth code', 429, error('invalid_grant'), {}],
  ['a 400 without OAuth code', 400, { message: 'no' }, {}],
  ['a 403 of something in between', 403, '<html>blocked</html>', { 'content-type': 'text/html' }],
  ['a 200 that is no token response', 200, 'welcome to our wifi', { 'content-type': 'text/html' }],
  ['a redirect', 302, '', { location: 'https://wifi.example/' }],
  ['trouble of its own', 400, error('temporarily_unavailable'), {}],
] as const)('%s is transient', async (_, status, body, headers) => {
  const { issuer } = await oddIssuer({ token: () => ({ status, body, headers: { ...json, ...headers } }) })

  const result = await engine.refresh(requestTo(issuer), reach)

  expect(result).toMatchObject({ kind: 'transient', problem: expect.any(String) })
  expect(result).toHaveProperty('retryAfterMs', 'retry-after' in headers ? 7000 : undefined)
})

test('a server that is not there, one that hangs up, one that never responds and a name without address are transient', async () => {
  const gone = await registryServer()
  await gone.stop()
  const rude = await registryServer(request => request.socket.destroy())
  const slow = await registryServer(() => undefined)

  for (const issuer of [gone.url, rude.url, slow.url, 'https://issuer.invalid']) {
    expect(await engine.refresh(requestTo(issuer), { ...reach, timeoutMs: 300 })).toMatchObject({
      kind: 'transient',
    })
  }
})

test.each(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'bad_refresh_token'])(
  'the OAuth error %s is permanent, whatever its status and challenge',
  async code => {
    for (const status of [200, 400, 401]) {
      const headers = { ...json, 'www-authenticate': 'Basic realm="x"' }
      const { issuer } = await oddIssuer({ token: () => ({ status, body: error(code), headers }) })

      expect(await engine.refresh(requestTo(issuer), reach)).toMatchObject({ kind: 'permanent', code })
    }
  },
)

test('a client of another issuer gets nothing, and is not shown', async () => {
  const { issuer, sent } = await oddIssuer()
  const request = requestTo(issuer)

  expect(
    await engine.refresh({ ...request, client: { ...request.client, issuer: 'https://old.example' } }, reach),
  ).toMatchObject({ kind: 'permanent', code: 'issuer_changed' })
  expect(sent).toEqual([])
})

test('a machine with a private key signs an assertion for the issuer', async () => {
  const { issuer, sent } = await oddIssuer()
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { discovery } = requestTo(issuer)

  await engine.loginAsMachine({ discovery, settings: { clientId: 'mine', privateKey: pem } }, reach)

  const { client_assertion: assertion = '', grant_type: grant } = sent[0]?.body ?? {}
  expect(grant).toBe('client_credentials')
  expect(decodeProtectedHeader(assertion).alg).toBe('ES256')
  expect(decodeJwt(assertion)).toMatchObject({ iss: 'mine', sub: 'mine', aud: issuer })
})

test('a key that cannot be read is named as such, without its text', async () => {
  const { issuer } = await oddIssuer()
  const { discovery } = requestTo(issuer)

  await expect(
    engine.loginAsMachine({ discovery, settings: { clientId: 'mine', privateKey: 'not a key' } }, reach),
  ).rejects.toMatchObject({ code: 'remote_key_invalid', message: expect.not.stringContaining('not a key') })
})

const registered = (issuer: string, endsIn: number, uri = `${issuer}/manage`): ClientIdentity => ({
  kind: 'registered',
  issuer,
  clientId: 'mine',
  clientSecret: 'old',
  authMethod: 'client_secret_basic',
  secretExpiresAt: NOW + endsIn,
  registration: { uri, accessToken: 'manage-me' },
  callbackPort: 8666,
})

test('a secret is renewed within a day of its end, and not before', async () => {
  const seen: (string | undefined)[] = []
  const { issuer } = await oddIssuer({
    other(request, response, url) {
      if (url.pathname !== '/manage') return false
      seen.push(`${request.method} ${request.headers.authorization}`)
      sendJson(response, {
        client_id: 'mine',
        client_secret: 'new',
        client_secret_expires_at: 99_999,
        registration_client_uri: 'https://elsewhere.example/manage',
        registration_access_token: 'next',
      })
      return true
    },
  })
  const { discovery } = requestTo(issuer)
  const early = registered(issuer, 48 * 3600_000)

  expect(await engine.renewClient({ client: early, discovery }, reach)).toBe(early)
  const renewed = await engine.renewClient({ client: registered(issuer, 3600_000), discovery }, reach)

  expect(renewed).toMatchObject({
    clientSecret: 'new',
    secretExpiresAt: 99_999_000,
    registration: { uri: `${issuer}/manage`, accessToken: 'manage-me' },
  })
  expect(seen).toEqual(['PUT Bearer manage-me'])
})

test('a renewal that fails leaves the client as it is until its secret has expired', async () => {
  const { issuer } = await oddIssuer()
  const { discovery } = requestTo(issuer)
  const soon = registered(issuer, 1000)

  expect(await engine.renewClient({ client: soon, discovery }, reach)).toBe(soon)
  await expect(
    engine.renewClient({ client: registered(issuer, -1000), discovery }, reach),
  ).rejects.toMatchObject({ code: 'remote_client_expired' })
})
