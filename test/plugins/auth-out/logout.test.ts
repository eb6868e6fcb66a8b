import { expect, test } from 'vitest'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { login, runAndLogIn, world } from './login-world.ts'

test('auth logout takes the login back, and workloads use its token no more', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, status } = await world()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  expect((await post(url, rpc('ping', 1))).status).toBe(200)

  const { stderr } = await home.keelson(['auth', 'logout', 'far'])

  expect(stderr).toContain(`Logged out of ${provider.issuer}.`)
  expect(stderr).not.toContain('Warning')
  const revoked = provider.asked.filter(({ path }) => path.includes('revocation'))
  expect(revoked.map(({ form }) => form.get('token_type_hint'))).toEqual(['refresh_token'])
  await until(async () => (await status('far')).status === 'unauthenticated')
  const before = server.asked.length
  const refused = await post(url, rpc('ping', 2))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  expect(server.asked.slice(before).filter(({ headers }) => headers.authorization)).toEqual([])
  expect((await home.keelson(['auth', 'logout', 'far'])).stderr).toContain('There is no login')

  // Another login puts it right.
  await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)
  await until(async () => (await post(url, rpc('ping', 3))).status === 200)
  expect((await status('far')).status).toBe('running')
})

test('auth logout forgets a login whose provider is gone, and says so', { timeout: 240_000 }, async () => {
  const { home, provider, server } = await world()
  await runAndLogIn(home, login(server, 'far'), provider)
  provider.answer((_, response) => {
    response.writeHead(503).end()
    return true
  })

  const { code, stderr } = await home.keelson(['auth', 'logout', '--all'])

  expect(code).toBe(0)
  expect(stderr).toContain('Warning: it was not told')
  expect(JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))).toEqual([])
  expect((await home.keelson(['auth', 'status', 'far'])).stderr).toContain('keelson auth login far')
})

test('auth status tells of a login everything but its tokens', { timeout: 240_000 }, async () => {
  const { home, provider, server } = await world()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  await post(url, rpc('ping', 1))

  const text = await home.ok(['auth', 'status', 'far', '--format', 'json'])

  const [shown] = JSON.parse(text)
  expect(shown).toEqual({
    server: new URL(server.mcp).origin,
    issuer: provider.issuer,
    client: expect.any(String),
    resource: server.mcp,
    scopes: [], // this provider grants none of the resource
    state: 'ready',
    workloads: ['far'],
    logged_in_at: expect.any(String),
    kept_in: 'secrets',
    token_expires_at: expect.any(String),
  })
  const spent = provider.asked.flatMap(({ form }) => form.get('refresh_token') ?? [])
  for (const token of spent) expect(text).not.toContain(token)
  expect(text).not.toContain('eyJ')
  expect(await home.ok(['auth', 'status'])).toMatch(/^Server: .*[\s\S]*^State: +ready$/m)
})

test('auth client-metadata prints the document for the URL that is set', async () => {
  const { home } = await world()
  expect((await home.keelson(['auth', 'client-metadata'])).stderr).toContain('set-client-metadata-url')
  expect((await home.keelson(['config', 'set-client-metadata-url', 'http://example.com/a'])).code).toBe(2)
  const url = 'https://example.com/keelson.json'
  await home.ok(['config', 'set-client-metadata-url', url])

  const document = JSON.parse(await home.ok(['auth', 'client-metadata', '--callback-port', '9123']))

  expect(document.client_id).toBe(url)
  expect(document.redirect_uris).toContain('http://localhost:9123/callback')
  expect(await home.ok(['config', 'get-client-metadata-url'])).toContain(url)
})
