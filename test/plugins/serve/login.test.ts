import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { keelsonUser } from '../../support/keelson.ts'

const AUDIENCE = 'https://keelson.test/api'
const LOCAL = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip']

const loginAt = (issuer: string, ...more: string[]) => [
  ...['--port', '0', '--oidc-issuer', issuer, '--oidc-audience', AUDIENCE, ...LOCAL],
  ...more,
]

test('with a token of a real provider the API responds, without one it names the provider', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const api = await startApi({
    args: loginAt(
      provider.issuer,
      '--oidc-scopes',
      'read,write',
      '--resource-url',
      'https://keelson.test/api',
    ),
    token: await provider.token(),
  })

  expect((await api.ask('GET', '/api/v1beta/workloads')).status).toBe(200)
  expect((await api.ask('POST', '/api/v1beta/groups', { name: 'team' })).status).toBe(201)

  const refused = await fetch(`${api.url}/api/v1beta/workloads`)
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: 'invalid_request', error_description: expect.stringContaining('token is needed') },
  ])
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer realm="${provider.issuer}", ` +
      'resource_metadata="https://keelson.test/.well-known/oauth-protected-resource/api", ' +
      'scope="read write", error="invalid_request", error_description="A bearer token is needed."',
  )
  const metadata = await fetch(`${api.url}/.well-known/oauth-protected-resource/api`)
  expect(await metadata.json()).toMatchObject({
    resource: 'https://keelson.test/api',
    authorization_servers: [provider.issuer],
    scopes_supported: ['read', 'write'],
  })
})

test('everything but health wants a token: paths that are not there, the description, the events', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const api = await startApi({ args: loginAt(provider.issuer) })
  const status = async (path: string, init?: RequestInit) => (await fetch(`${api.url}${path}`, init)).status

  expect(await status('/health')).toBe(204)
  for (const path of [
    '/',
    '/nothing',
    '/api/openapi.json',
    '/api/doc',
    '/api/v1beta/events',
    '/registry/x/v0.1/servers',
  ]) {
    expect([path, await status(path)]).toEqual([path, 401])
  }
  expect(await status('/health', { method: 'PATCH' })).toBe(401)
  expect(await status('/api/v1beta/groups', { method: 'POST', body: '{"name":"a"}' })).toBe(401)
  expect((await api.user.run(['group', 'list'])).stdout).not.toMatch(/^a\b/m)
})

test('a token that is not valid here is refused', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const other = await identityProvider({ audience: AUDIENCE })
  const api = await startApi({ args: loginAt(provider.issuer), token: await provider.token() })
  const ask = async (authorization: string) => {
    const response = await fetch(`${api.url}/api/v1beta/version`, { headers: { authorization } })
    return [response.status, ((await response.json()) as { error?: string }).error]
  }
  const token = await provider.token()
  const [header, payload] = token.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')

  expect(await ask(`Bearer ${token}`)).toEqual([200, undefined])
  expect(await ask(`bearer ${token}`)).toEqual([200, undefined])
  expect(await ask(`Bearer ${await other.token()}`)).toEqual([401, 'invalid_token'])
  expect(await ask(`Bearer ${header}.${payload}.AAAA`)).toEqual([401, 'invalid_token'])
  expect(await ask(`Bearer ${none}.${payload}.`)).toEqual([401, 'invalid_token'])
  expect(await ask('Bearer opaque')).toEqual([401, 'invalid_token'])
  for (const wrong of ['Bearer ', 'Bearer a b', `Basic ${token}`, token, 'Bearer "x"']) {
    expect([wrong, ...(await ask(wrong))]).toEqual([wrong, 401, 'invalid_request'])
  }
})

test('a token for somebody else is refused', async () => {
  const provider = await identityProvider({ audience: 'https://other.test' })
  const api = await startApi({ args: loginAt(provider.issuer) })
  const authorization = `Bearer ${await provider.token()}`

  expect((await fetch(`${api.url}/api/v1beta/version`, { headers: { authorization } })).status).toBe(401)
})

test('opaque tokens are asked about at the provider, with a secret that stands in no argument', async () => {
  const provider = await identityProvider({ audience: AUDIENCE, format: 'opaque' })
  const user = await keelsonUser()
  await writeFile(join(user.home, 'secret'), `${provider.service.secret}\n`)
  const endpoint = `${provider.issuer}/token/introspection`
  const api = await startApi({
    user,
    args: loginAt(
      provider.issuer,
      ...['--oidc-introspection-url', endpoint, '--oidc-client-id', provider.service.id],
      ...['--oidc-client-secret-file', 'secret'],
    ),
    token: await provider.token(),
  })

  expect((await api.ask('GET', '/api/v1beta/version')).status).toBe(200)
  const authorization = 'Bearer invented'
  expect((await fetch(`${api.url}/api/v1beta/version`, { headers: { authorization } })).status).toBe(401)
  const asked = provider.asked.filter(({ path }) => path === '/token/introspection')
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'POST'])
  const commandLine = await readFile(`/proc/${api.process.pid}/cmdline`, 'utf8')
  expect(commandLine + api.log()).not.toContain(provider.service.secret)
})

test('while the provider does not respond, callers get Retry-After, and are accepted later', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const token = await provider.token()
  provider.answer((_request, response) => Boolean(response.writeHead(500).end()))
  const api = await startApi({ args: loginAt(provider.issuer) })
  const headers = { authorization: `Bearer ${token}` }

  const response = await fetch(`${api.url}/api/v1beta/version`, { headers })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])

  provider.answer(undefined)
  await expect
    .poll(async () => (await fetch(`${api.url}/api/v1beta/version`, { headers })).status, {
      timeout: 20_000,
      interval: 500,
    })
    .toBe(200)
})

test('behind a login the server may listen beyond this machine, and is called by any name', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const api = await startApi({ args: [...loginAt(provider.issuer), '--host', '0.0.0.0'] })
  const headers = { host: 'keelson.test', authorization: `Bearer ${await provider.token()}` }

  const asked = request(`${api.url}/api/v1beta/version`.replace('0.0.0.0', '127.0.0.1'), { headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]

  expect(response.statusCode).toBe(200)
  response.resume()
})

test('a key of ours that the provider never had lets nobody in', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const api = await startApi({ args: loginAt(provider.issuer) })
  const keys = (await (await fetch(`${provider.issuer}/jwks`)).json()) as {
    keys: { kid: string; alg?: string }[]
  }
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const token = await new SignJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'ada' })
    .setProtectedHeader({ alg: 'RS256', kid: keys.keys[0]?.kid ?? '', jwk: await exportJWK(publicKey) })
    .setExpirationTime('1h')
    .sign(privateKey)

  const response = await fetch(`${api.url}/api/v1beta/version`, {
    headers: { authorization: `Bearer ${token}` },
  })

  expect(await response.json()).toMatchObject({
    error: 'invalid_token',
    error_description: expect.stringContaining('signature'),
  })
})

test.each<[string, string[], string]>([
  ['an issuer over plain http', ['--oidc-issuer', 'http://login.test'], 'must be an https URL'],
  ['an issuer that is no URL', ['--oidc-issuer', 'login.test'], 'is not an http or https URL'],
  ['an empty issuer, as of a variable that is not set', ['--oidc-issuer', ''], '--oidc-issuer is empty'],
  [
    'an empty audience',
    ['--oidc-issuer', 'https://login.test', '--oidc-audience', ''],
    '--oidc-audience is empty',
  ],
  ['an issuer without an audience', ['--oidc-issuer', 'https://login.test'], '--oidc-audience'],
  [
    'introspection without an audience',
    ['--oidc-introspection-url', 'https://login.test/i'],
    'issued for other services',
  ],
  [
    'a rule that is none',
    ['--oidc-issuer', 'https://login.test', '--oidc-audience', 'x', '--oidc-allow', 'ada@example.com'],
    'does not have the form claim=value',
  ],
  [
    'a rule without a value, as of a variable that is not set',
    ['--oidc-issuer', 'https://login.test', '--oidc-audience', 'x', '--oidc-allow', 'groups='],
    'does not have the form claim=value',
  ],
  ['an audience alone', ['--oidc-audience', 'x'], 'no issuer and no introspection endpoint is named'],
  [
    'a secret without its client',
    ['--oidc-issuer', 'https://login.test', '--oidc-audience', 'x', '--oidc-client-secret', 'x'],
    'client secret',
  ],
  [
    'a file that is not there',
    ['--oidc-issuer', 'https://login.test', '--oidc-client-secret-file', 'x'],
    'does not exist',
  ],
])('%s is wrong usage, and nothing is listened on', async (_what, args, problem) => {
  const user = await keelsonUser()

  const { code, stderr, stdout } = await user.run(['serve', '--port', '0', ...args])

  expect([code === 0, stdout]).toEqual([false, ''])
  expect(stderr).toContain(problem)
})

test('the secret of the client may be a flag, with a warning', async () => {
  const user = await keelsonUser()
  user.env.KEELSON_OIDC_CLIENT_SECRET = 'from the environment'
  const api = await startApi({
    user,
    args: [
      ...['--port', '0', '--oidc-introspection-url', 'https://login.test/i', '--oidc-client-id', 'we'],
      ...['--oidc-client-secret', 'sesame-open', '--oidc-audience', AUDIENCE],
    ],
  })

  expect((await fetch(`${api.url}/api/v1beta/version`)).status).toBe(401)
  expect(api.log()).toContain('--oidc-client-secret can be read by everybody')
  expect(api.log()).toContain('--oidc-issuer')
  expect(api.log()).not.toContain('sesame')
})
