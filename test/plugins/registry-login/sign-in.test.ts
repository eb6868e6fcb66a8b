import { createServer, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createOAuthEngine } from '../../../plugins/auth-out/oauth/engine.ts'
import { findProvider } from '../../../plugins/registry-login/find-provider.ts'
import { type SignInRequest, signIn } from '../../../plugins/registry-login/sign-in.ts'
import { freePort } from '../../support/free-port.ts'
import { type IdentityProvider, identityProvider } from '../../support/identity-provider.ts'
import { leaveOut } from '../../support/left-out.ts'
import { registryServer, sendJson } from '../../support/registry-server.ts'

interface Change extends Partial<SignInRequest> {
  readonly scopes?: readonly string[]
  readonly clock?: () => number
}

/** A login at the provider; `visit` is what happens with the address. */
async function attempt(
  { issuer }: Pick<IdentityProvider, 'issuer'>,
  visit: (url: string) => unknown,
  { clock = Date.now, scopes = ['openid', 'offline_access'], ...change }: Change = {},
) {
  const engine = createOAuthEngine({ clock })
  const { timeoutMs = 5_000, signal } = change
  const url = 'https://registry.invalid'
  const place = { url, issuer, scopes, allowPrivate: true, timeoutMs, signal }
  return signIn(engine, await findProvider(engine, place), {
    clientId: 'keelson-test',
    port: 0,
    waitMs: 10_000,
    timeoutMs,
    open: async () => false,
    show: async url => void visit(url),
    ...change,
  })
}

const callbackOf = (url: string, words: Record<string, string>): string => {
  const callback = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
  callback.search = new URLSearchParams(words).toString()
  return callback.href
}
const stateOf = (url: string): string => new URL(url).searchParams.get('state') ?? ''

test('a login gives an access token, a refresh token and their end', async () => {
  const provider = await identityProvider({ accessTokenSeconds: 100 })

  const { tokens } = await attempt(provider, provider.visit, { clock: () => 1_000_000 })

  // What the provider says is left of the 100 seconds when it responds, by its own clock.
  const lifetime = (tokens.expires_at ?? 0) - 1_000_000
  expect(tokens.access_token).toEqual(expect.any(String))
  expect([lifetime > 0, lifetime <= 100_000, lifetime % 1000]).toEqual([true, true, 0])
  expect(tokens.refresh_token).toEqual(expect.any(String))
})

test('a refusal of the user shows in the browser and here', async () => {
  const provider = await identityProvider()
  provider.decide('deny')
  let page = Promise.resolve({ status: 0, url: '', text: '' })

  const login = attempt(provider, url => {
    page = provider.visit(url)
  })

  await expect(login).rejects.toMatchObject({
    code: 'login_denied',
    message: expect.stringContaining('The person said no'),
  })
  expect(await page).toMatchObject({ status: 400, text: expect.stringContaining('The person said no') })
})

test.each([
  ['another state', { code: 'x', state: 'somebody-else' }],
  ['no state', { code: 'x' }],
  ['an error for another login', { error: 'access_denied', state: 'somebody-else' }],
  ['neither code nor error', {}],
] as [string, Record<string, string>][])(
  'a response with %s is refused, and the login goes on',
  async (_what, words) => {
    const provider = await identityProvider()
    const statuses: number[] = []

    const { tokens } = await attempt(provider, async url => {
      const own = Object.keys(words).length ? words : { state: stateOf(url) }
      statuses.push((await fetch(callbackOf(url, own))).status)
      statuses.push((await provider.visit(url)).status)
    })

    expect(tokens).toMatchObject({ access_token: expect.any(String) })
    expect(statuses[0]).toBe(400)
    expect(provider.asked.filter(({ path }) => path === '/token')).toHaveLength(1)
  },
)

test('a second response is refused while the first one is redeemed', async () => {
  const provider = await identityProvider()
  const asked = Promise.withResolvers<ServerResponse>()
  provider.answer((request, response) => {
    if (request.url === '/token') asked.resolve(response)
    return request.url === '/token'
  })
  const second = Promise.withResolvers<number>()

  const login = attempt(provider, async url => {
    const page = provider.visit(url)
    const waiting = await asked.promise
    second.resolve((await fetch(callbackOf(url, { code: 'another', state: stateOf(url) }))).status)
    waiting.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    await page
  })

  await expect(login).rejects.toMatchObject({ code: 'login_failed' })
  expect(await second.promise).toBe(400)
  expect(provider.asked.filter(({ path }) => path === '/token')).toHaveLength(1)
})

test('a response that names another issuer is refused before the code is used', async () => {
  const provider = await identityProvider()

  const login = attempt(provider, url =>
    fetch(callbackOf(url, { code: 'x', state: stateOf(url), iss: 'https://evil.example' })),
  )

  await expect(login).rejects.toMatchObject({
    code: 'issuer_invalid',
    message: expect.stringContaining('iss'),
  })
  expect(provider.asked.map(({ path }) => path)).not.toContain('/token')
})

test('a code that the provider does not know is a failed login', async () => {
  const provider = await identityProvider()

  const login = attempt(provider, url =>
    fetch(callbackOf(url, { code: 'made-up', state: stateOf(url), iss: provider.issuer })),
  )

  await expect(login).rejects.toMatchObject({
    code: 'login_failed',
    message: expect.stringContaining('invalid_grant'),
  })
})

test('a token endpoint that stalls is not waited for', async () => {
  const provider = await identityProvider()
  provider.answer(request => request.url === '/token')

  const login = attempt(provider, provider.visit, { timeoutMs: 300 })

  await expect(login).rejects.toMatchObject({
    code: 'issuer_unreachable',
    message: expect.stringContaining('within 0.3 seconds'),
  })
})

test('a failure holds neither code nor verifier, in its causes neither', async () => {
  const provider = await identityProvider()
  provider.answer((request, response) => {
    if (request.url === '/token') response.writeHead(500).end('{"error":"server_error"}')
    return request.url === '/token'
  })

  const error = await attempt(provider, provider.visit).catch(thrown => thrown)

  const { inspect } = await import('node:util')
  const form = provider.asked.find(({ path }) => path === '/token')?.form
  expect(form?.get('code')).toEqual(expect.any(String))
  const shown = inspect(error, { depth: 20, showHidden: true })
  for (const name of ['code', 'code_verifier']) expect(shown).not.toContain(form?.get(name))
})

test('a login that is not finished in the browser ends by itself', async () => {
  const provider = await identityProvider()

  await expect(attempt(provider, () => undefined, { waitMs: 200 })).rejects.toMatchObject({
    code: 'login_timeout',
  })
})

test('an interrupt ends the wait and frees the port', async () => {
  const provider = await identityProvider()
  const stop = new AbortController()
  const port = await freePort()

  const login = attempt(provider, () => stop.abort(new Error('stopped')), {
    port,
    signal: stop.signal,
  })

  await expect(login).rejects.toThrow('stopped')
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

test.for(['127.0.0.1', '::1'])('a port that somebody has on %s is not shared', async (host, context) => {
  const provider = await identityProvider()
  const port = await freePort()
  const other = createServer()
  onTestFinished(() => void other.close())
  const { promise, resolve } = Promise.withResolvers<void>()
  other.once('error', () => resolve())
  other.listen({ host, port }, resolve)
  await promise
  if (!other.listening) leaveOut(context, `there is no ${host} here`)

  await expect(attempt(provider, () => undefined, { port })).rejects.toMatchObject({
    code: 'login_port_taken',
    message: expect.stringContaining(String(port)),
  })
})

test('parameters of the address cannot become part of the page', async () => {
  const provider = await identityProvider()
  const script = '<script>alert(1)</script>'
  let page: Promise<Response> | undefined

  const login = attempt(provider, url => {
    const words = { error: 'x', error_description: script, state: stateOf(url), iss: provider.issuer }
    page = fetch(callbackOf(url, words))
  })

  await expect(login).rejects.toMatchObject({ code: 'login_failed' })
  const response = await page
  expect(response?.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await response?.text()).toContain('&lt;script&gt;')
})

test('other addresses and methods of the listener are not the end of a login', async () => {
  const provider = await identityProvider()
  const seen: number[] = []

  const { tokens } = await attempt(provider, async url => {
    const callback = callbackOf(url, { state: stateOf(url) })
    seen.push((await fetch(new URL('/favicon.ico', callback))).status)
    seen.push((await fetch(callback, { method: 'POST' })).status)
    await provider.visit(url)
  })

  expect(seen).toEqual([404, 405])
  expect(tokens.access_token).toEqual(expect.any(String))
})

const metadata = (issuer: string, change: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  ...change,
})

test('a provider without OpenID is found by RFC 8414', async () => {
  const server = await registryServer((_, response, url) =>
    url.pathname === '/.well-known/oauth-authorization-server/team'
      ? sendJson(response, metadata(`${server.url}/team`))
      : response.writeHead(404).end(),
  )
  const shown: string[] = []

  await expect(
    attempt({ issuer: `${server.url}/team` }, url => shown.push(url), { waitMs: 50, scopes: [] }),
  ).rejects.toMatchObject({ code: 'login_timeout' })

  expect(shown[0]).toMatch(/\/team\/auth\?/)
})

test.each([
  ['is somebody else', (issuer: string) => metadata(issuer, { issuer: 'https://evil.example' })],
  ['has no token endpoint', (issuer: string) => metadata(issuer, { token_endpoint: undefined })],
  [
    'sends browsers to a script',
    (issuer: string) => metadata(issuer, { authorization_endpoint: 'javascript:1' }),
  ],
  [
    'wants tokens over plain http',
    (issuer: string) => metadata(issuer, { token_endpoint: 'http://a.example/t' }),
  ],
  [
    'does not know S256',
    (issuer: string) => metadata(issuer, { code_challenge_methods_supported: ['plain'] }),
  ],
])('a provider that %s is refused before a person is asked', async (_, documentOf) => {
  const server = await registryServer((_request, response) => sendJson(response, documentOf(server.url)))
  const shown: string[] = []

  await expect(attempt({ issuer: server.url }, url => shown.push(url))).rejects.toMatchObject({
    code: 'issuer_invalid',
  })

  expect(shown).toEqual([])
})

test.each([
  ['garbage', 200, '<html>'],
  ['an error', 500, '{}'],
  ['a redirect', 302, ''],
  ['more than it may', 200, `{"x":"${'x'.repeat(2_000_000)}"}`],
])('a provider that responds with %s fails clearly', async (_, status, body) => {
  const server = await registryServer((_request, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', location: 'https://evil.example' })
      .end(body),
  )

  const error = await attempt({ issuer: server.url }, () => undefined).catch(thrown => thrown)

  expect(['issuer_invalid', 'issuer_unreachable']).toContain(error.code)
  expect(error.message).toContain(server.url)
})

test('a provider that is not there fails clearly', async () => {
  const server = await registryServer()
  await server.stop()

  await expect(attempt({ issuer: server.url }, () => undefined)).rejects.toMatchObject({
    code: 'issuer_unreachable',
    message: expect.stringContaining('refuses connections'),
  })
})

test('a provider that does not register clients needs a client ID', async () => {
  const server = await registryServer((_request, response) => sendJson(response, metadata(server.url)))

  await expect(
    attempt({ issuer: server.url }, () => undefined, { clientId: undefined }),
  ).rejects.toMatchObject({ code: 'login_client_needed', hint: expect.stringContaining('--client-id') })
})
