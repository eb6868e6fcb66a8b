import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createOAuthEngine } from '../../../../plugins/auth-out/oauth/engine.ts'
import type {
  ClientIdentity,
  LoginRequest,
  LoginSettings,
  Person,
} from '../../../../plugins/auth-out/oauth/types.ts'
import { freePort } from '../../../support/free-port.ts'
import { identityProvider } from '../../../support/identity-provider.ts'
import { type OddIssuer, oddIssuer } from './odd-issuer.ts'
import { personWithBrowser } from './person.ts'
import { protectedServer } from './protected-server.ts'

const engine = createOAuthEngine()
const target = 'https://mcp.invalid/mcp'

/** A login at an odd server, by a browser that approves. */
async function logIn(odd: OddIssuer, settings: LoginSettings = {}, change: Partial<LoginRequest> = {}) {
  const reach = { target }
  const discovery = await engine.discover({ settings: { issuer: odd.issuer, ...settings } }, reach)
  const person = personWithBrowser(odd.visit)
  return engine.login({ discovery, settings, person, waitMs: 10_000, ...change }, reach)
}

test('a server that says where to log in needs no settings: a client is registered and gets tokens', async () => {
  const provider = await identityProvider()
  const server = await protectedServer({ issuer: provider.issuer, scopes: ['read'] })
  const reach = { target: server.mcp }
  const settings: LoginSettings = {}

  const found = await engine.detect(reach)
  if (found.kind !== 'login') throw new Error(found.kind)
  const discovery = await engine.discover({ settings, challenge: found.challenge }, reach)
  const person = personWithBrowser(provider.visit)
  const { tokens, client } = await engine.login({ discovery, settings, person, waitMs: 10_000 }, reach)

  expect(discovery).toMatchObject({
    issuer: provider.issuer,
    found: 'resource-metadata',
    resource: server.mcp,
  })
  expect(client).toMatchObject({ kind: 'registered', issuer: provider.issuer, authMethod: 'none' })
  expect(tokens).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) })
  const redeemed = provider.asked.find(({ path }) => path === '/token')
  expect(redeemed?.form.get('resource')).toBe(server.mcp)
  expect(redeemed?.form.get('code_verifier')).toEqual(expect.any(String))
})

test('tokens are renewed with a new refresh token, and the resource is named again; taken back, they are over', async () => {
  const provider = await identityProvider()
  const server = await protectedServer({ issuer: provider.issuer, scopes: ['read'] })
  const reach = { target: server.mcp }
  const settings: LoginSettings = { clientId: provider.clientId, callbackPort: await freePort() }
  const discovery = await engine.discover({ settings }, reach)
  const person = personWithBrowser(provider.visit)
  const { tokens, client } = await engine.login({ discovery, settings, person, waitMs: 10_000 }, reach)

  const renewed = await engine.refresh({ discovery, client, settings, tokens }, reach)

  if (renewed.kind !== 'renewed') throw new Error(JSON.stringify(renewed))
  expect(renewed.tokens.refreshToken).not.toBe(tokens.refreshToken)
  expect(provider.asked.at(-1)?.form.get('resource')).toBe(server.mcp)
  expect(await engine.revoke({ discovery, client, settings, tokens: renewed.tokens }, reach)).toBe(true)
  expect(await engine.refresh({ discovery, client, settings, tokens: renewed.tokens }, reach)).toMatchObject({
    kind: 'permanent',
    code: 'invalid_grant',
  })
})

test('a person who says no is told so', async () => {
  const provider = await identityProvider()
  provider.decide('deny')
  const settings: LoginSettings = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    callbackPort: await freePort(),
  }
  const discovery = await engine.discover({ settings }, { target })

  await expect(
    engine.login(
      { discovery, settings, person: personWithBrowser(provider.visit), waitMs: 10_000 },
      { target },
    ),
  ).rejects.toMatchObject({
    code: 'remote_login_denied',
    message: expect.stringContaining('The person said no'),
  })
})

test('a machine logs in with a secret, without a person', async () => {
  const provider = await identityProvider()
  const settings: LoginSettings = {
    issuer: provider.issuer,
    clientId: provider.service.id,
    clientSecret: provider.service.secret,
    scopes: ['read'],
    resource: provider.audience,
  }
  const discovery = await engine.discover({ settings }, { target })

  const { tokens } = await engine.loginAsMachine({ discovery, settings }, { target })

  expect(tokens).toMatchObject({ accessToken: expect.any(String), scopes: ['read'] })
})

test.each([
  ['does not list PKCE', { code_challenge_methods_supported: undefined }],
  ['lists only plain', { code_challenge_methods_supported: ['plain'] }],
])('a server that %s is refused before the browser opens', async (_, metadata) => {
  const odd = await oddIssuer({ metadata: () => metadata })
  const person = personWithBrowser(odd.visit)

  await expect(logIn(odd, {}, { person })).rejects.toMatchObject({ code: 'remote_pkce_missing' })
  expect(person.steps).toEqual([])
})

test('a server that registers nobody asks for a client ID', async () => {
  const none = await oddIssuer({ metadata: () => ({ registration_endpoint: undefined }) })
  const missing = await oddIssuer({ register: () => ({ status: 404, body: {} }) })

  await expect(logIn(none)).rejects.toMatchObject({ code: 'remote_client_needed' })
  await expect(logIn(missing)).rejects.toMatchObject({
    code: 'remote_client_needed',
    message: expect.stringContaining('404'),
  })
})

test('scopes that a registration refuses are left out of it, and asked for all the same', async () => {
  const odd = await oddIssuer({
    register: body =>
      body.scope
        ? { status: 400, body: { error: 'invalid_client_metadata' } }
        : { status: 201, body: { client_id: 'registered' } },
  })
  const person = personWithBrowser(odd.visit)

  await logIn(odd, { scopes: ['far'] }, { person, ...(await withScopes(odd, ['far'])) })

  expect(new URL(person.steps[0]?.url ?? '').searchParams.get('scope')).toBe('far')
})

async function withScopes(odd: OddIssuer, scopes: readonly string[]) {
  const settings = { issuer: odd.issuer, scopes }
  return { discovery: await engine.discover({ settings }, { target }) }
}

test('a registration says who we are and where the browser comes back to', async () => {
  const odd = await oddIssuer()

  const { client } = await logIn(odd)

  expect(odd.sent[0]?.body).toMatchObject({
    client_name: 'keelson',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [`http://localhost:${client.callbackPort}${client.callbackPath}`],
  })
})

test('servers that do not promise to name themselves have redirect URIs of their own', async () => {
  const [one, other] = [await oddIssuer(), await oddIssuer()]
  const named = await oddIssuer({
    metadata: () => ({ authorization_response_iss_parameter_supported: true }),
    redirectOf: issuer => ({ iss: issuer }),
  })

  const paths = (await Promise.all([one, other, named].map(odd => logIn(odd)))).map(
    ({ client }) => client.callbackPath,
  )

  expect(paths).toEqual([
    expect.stringMatching(/^\/callback\/[0-9a-f]{16}$/),
    expect.stringMatching(/^\/callback\/[0-9a-f]{16}$/),
    undefined,
  ])
  expect(paths[0]).not.toBe(paths[1])
})

test('a code of another server, to which a server sent the browser on, reaches neither', async () => {
  const honest = await oddIssuer()
  const { client: ours } = await logIn(honest)
  const evil = await oddIssuer({
    other(_, response, url) {
      if (url.pathname !== '/authorize') return false
      // The honest server takes no other redirect URI than the one that we registered there.
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.pathname = ours.callbackPath ?? '/callback'
      const on = new URL(`${honest.issuer}/authorize?${url.searchParams}`)
      on.searchParams.set('client_id', ours.clientId)
      on.searchParams.set('redirect_uri', back.href)
      response.writeHead(302, { location: on.href }).end()
      return true
    },
  })
  const pages: number[] = []
  const seen = new AbortController()
  const person = personWithBrowser(async url => {
    pages.push((await evil.visit(url)).status)
    seen.abort(new Error('the page was seen'))
  })
  const settings = { issuer: evil.issuer }
  const discovery = await engine.discover({ settings }, { target })

  const login = engine.login({ discovery, settings, person, waitMs: 60_000 }, { target, signal: seen.signal })

  await expect(login).rejects.toThrow('the page was seen')
  expect(pages).toEqual([404])
  expect(evil.sent.map(({ path }) => path)).toEqual(['/register'])
})

test('a registration that shares its redirect URI is renewed where the server no longer names itself', async () => {
  const odd = await oddIssuer()
  const client: ClientIdentity = {
    kind: 'registered',
    issuer: odd.issuer,
    clientId: 'old',
    authMethod: 'none',
    callbackPort: await freePort(),
  }

  expect((await logIn(odd, {}, { client })).client.clientId).toBe('registered')
})

test.each([
  ['client_secret_basic', `Basic ${Buffer.from('an-id:s%26t').toString('base64')}`, undefined],
  ['client_secret_post', undefined, 's&t'],
])('a registered client authenticates by %s', async (method, authorization, secret) => {
  const odd = await oddIssuer({
    metadata: () => ({ token_endpoint_auth_methods_supported: [method] }),
    register: body => ({
      status: 201,
      body: {
        client_id: 'an-id',
        client_secret: 's&t',
        client_secret_expires_at: 0,
        token_endpoint_auth_method: body.token_endpoint_auth_method,
      },
    }),
  })

  await logIn(odd)

  const redeemed = odd.sent.find(({ path }) => path === '/token')
  expect(redeemed?.authorization).toBe(authorization)
  expect(redeemed?.body.client_secret).toBe(secret)
})

test('where the server cannot use our metadata document, a client is registered', async () => {
  const document = 'https://keelson.example/client.json'
  const odd = await oddIssuer({
    metadata: () => ({ client_id_metadata_document_supported: true }),
    token: body =>
      body.client_id === document
        ? { status: 401, body: { error: 'invalid_client' }, headers: { 'www-authenticate': 'Basic' } }
        : { status: 200, body: { access_token: 'at', token_type: 'Bearer' } },
  })

  const { client } = await logIn(odd, { clientMetadataUrl: document, callbackPort: await freePort() })

  expect(odd.sent.map(({ path, body }) => [path, body.client_id])).toEqual([
    ['/token', document],
    ['/register', undefined],
    ['/token', 'registered'],
  ])
  expect(client.kind).toBe('registered')
})

test('a client of another issuer is not used', async () => {
  const odd = await oddIssuer()
  const client: ClientIdentity = {
    kind: 'registered',
    issuer: 'https://other.example',
    clientId: 'theirs',
    authMethod: 'none',
  }

  expect((await logIn(odd, {}, { client })).client.clientId).toBe('registered')
})

test('a client of an earlier login is used again with its port', async () => {
  const odd = await oddIssuer()
  const first = await logIn(odd, { callbackPort: await freePort() })
  const person = personWithBrowser(odd.visit)

  const second = await logIn(odd, {}, { client: first.client, person })

  expect(second.client).toEqual(first.client)
  expect(odd.sent.filter(({ path }) => path === '/register')).toHaveLength(1)
})

test.each([
  ['another issuer', {}, { iss: 'https://evil.example' }],
  ['none, though it promises one', { authorization_response_iss_parameter_supported: true }, {}],
])('a response that names %s is refused before the code is used', async (_, metadata, redirect) => {
  const odd = await oddIssuer({ metadata: () => metadata, redirect })

  await expect(logIn(odd)).rejects.toMatchObject({ code: 'remote_issuer_invalid' })
  expect(odd.sent.map(({ path }) => path)).not.toContain('/token')
})

test('an OAuth error with status 200 is an error', async () => {
  const odd = await oddIssuer({
    token: () => ({ status: 200, body: { error: 'bad_verification_code', error_description: 'Too old.' } }),
  })

  await expect(logIn(odd)).rejects.toMatchObject({
    code: 'remote_login_failed',
    message: expect.stringContaining('Too old (bad_verification_code)'),
  })
})

test('parameters of the user travel, the scope parameter may have another name, and ours cannot be replaced', async () => {
  const odd = await oddIssuer()
  const settings: LoginSettings = {
    scopes: ['a', 'b'],
    scopeParameter: 'user_scope',
    parameters: { audience: 'x', state: 'stolen' },
    resource: 'https://mcp.example/mcp',
  }
  const discovery = await engine.discover({ settings: { ...settings, issuer: odd.issuer } }, { target })
  const person = personWithBrowser(odd.visit)

  await engine.login({ discovery, settings, person, waitMs: 10_000 }, { target })

  const words = new URL(person.steps[0]?.url ?? '').searchParams
  expect(Object.fromEntries(words)).toMatchObject({
    user_scope: 'a b',
    audience: 'x',
    resource: 'https://mcp.example/mcp',
    code_challenge_method: 'S256',
  })
  expect(words.has('scope')).toBe(false)
  expect(words.get('state')).not.toBe('stolen')
})

test('a step-up asks for what is missing and keeps what was granted', async () => {
  const odd = await oddIssuer()
  const person = personWithBrowser(odd.visit)
  const { discovery } = await withScopes(odd, ['write'])

  const { tokens } = await logIn(odd, {}, { discovery, person, grantedScopes: ['read'] })

  expect(new URL(person.steps[0]?.url ?? '').searchParams.get('scope')).toBe('read write')
  expect(tokens.scopes).toEqual(['read', 'write'])
})

test('without a browser the pasted URL ends the login; a wrong one is asked for again', async () => {
  const odd = await oddIssuer()
  const problems: (string | undefined)[] = []
  const shown = Promise.withResolvers<string>()
  const person: Person = {
    show: step => shown.resolve(step.url),
    async askForRedirect(_, problem) {
      problems.push(problem)
      if (problems.length === 1) return 'http://localhost:1/callback?code=x&state=other'
      if (problems.length === 2) return 'hello'
      const { searchParams: words } = new URL(await shown.promise)
      const mine = `code=x&state=${words.get('state')}`
      if (problems.length === 3) return `http://localhost:1/callback?${mine}`
      if (problems.length === 4) return mine
      const response = await fetch(await shown.promise, { redirect: 'manual' })
      return response.headers.get('location') ?? ''
    },
  }

  const { tokens } = await logIn(odd, {}, { person })

  expect(tokens.accessToken).toBe('at')
  expect(problems).toEqual([
    undefined,
    expect.stringContaining('another login'),
    expect.stringContaining('whole URL'),
    expect.stringContaining('another login'),
    expect.stringContaining('whole URL'),
  ])
})

test('without a browser a device code is shown where the server has them, and slow answers are waited for', async () => {
  const grant = 'urn:ietf:params:oauth:grant-type:device_code'
  let polls = 0
  const odd = await oddIssuer({
    metadata: issuer => ({
      device_authorization_endpoint: `${issuer}/device`,
      grant_types_supported: ['authorization_code', grant],
    }),
    token: () =>
      polls++ === 0
        ? { status: 400, body: { error: 'authorization_pending' } }
        : { status: 200, body: { access_token: 'by-device', token_type: 'Bearer' } },
    other(_, response, url) {
      if (url.pathname !== '/device') return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          device_code: 'd',
          user_code: 'WDJB-\u001b[31mMJHT',
          verification_uri: 'https://login.example/device',
          expires_in: 60,
          interval: 1,
        }),
      )
      return true
    },
  })
  const steps: unknown[] = []

  const { tokens } = await logIn(odd, {}, { person: { show: step => void steps.push(step) } })

  expect(steps).toEqual([
    expect.objectContaining({ kind: 'device', url: 'https://login.example/device', userCode: 'WDJB-MJHT' }),
  ])
  expect(tokens.accessToken).toBe('by-device')
  expect(odd.sent.at(-1)?.body).toMatchObject({ grant_type: grant, device_code: 'd', resource: target })
})

test('where no browser can be started, the device code is shown instead', async () => {
  const odd = await oddIssuer({
    metadata: issuer => ({ device_authorization_endpoint: `${issuer}/device` }),
    other(_, response, url) {
      if (url.pathname !== '/device') return false
      const body = {
        device_code: 'd',
        user_code: 'CODE',
        verification_uri: 'https://a.example/',
        expires_in: 60,
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...body, interval: 1 }))
      return true
    },
  })
  const kinds: string[] = []
  const person: Person = { show: ({ kind }) => void kinds.push(kind), openBrowser: async () => false }

  await logIn(odd, {}, { person })

  expect(kinds).toEqual(['device'])
})

test('a device that may not log in is sent to the browser', async () => {
  const odd = await oddIssuer({
    metadata: issuer => ({ device_authorization_endpoint: `${issuer}/device` }),
    other(_, response, url) {
      if (url.pathname !== '/device') return false
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"unauthorized_client"}')
      return true
    },
  })
  const kinds: string[] = []
  const person: Person = {
    show(step) {
      kinds.push(step.kind)
      void odd.visit(step.url)
    },
  }

  const { tokens } = await logIn(odd, {}, { person })

  expect(kinds).toEqual(['browser'])
  expect(tokens.accessToken).toBe('at')
})

test('a person who does not come ends the login after its time, an abort with its reason', async () => {
  const odd = await oddIssuer()
  const away = personWithBrowser(() => undefined)

  await expect(logIn(odd, {}, { person: away, waitMs: 50 })).rejects.toMatchObject({
    code: 'remote_login_timeout',
  })
  const stop = new AbortController()
  const person: Person = { show: () => stop.abort(new Error('interrupted')) }
  const discovery = await engine.discover({ settings: { issuer: odd.issuer } }, { target })
  await expect(
    engine.login({ discovery, settings: {}, person, waitMs: 10_000 }, { target, signal: stop.signal }),
  ).rejects.toThrow('interrupted')
})

test('a port that is taken moves a new registration on, and stops a client that was given', async () => {
  const odd = await oddIssuer()
  // Another login of this machine may have it for a moment.
  const taken = await vi.waitFor(async () => {
    const server = createServer().listen(8666, '127.0.0.1')
    await once(server, 'listening')
    return server
  }, 20_000)
  onTestFinished(() => void taken.close())

  const { client } = await logIn(odd)

  expect(client.callbackPort).not.toBe(8666)
  await expect(logIn(odd, { clientId: 'mine' })).rejects.toMatchObject({ code: 'remote_login_port_taken' })
})

test('a public server does not send the browser to a private address', async () => {
  const odd = await oddIssuer()
  const settings = { clientId: 'mine', callbackPort: await freePort() }
  const discovery = await engine.discover({ settings: { issuer: odd.issuer } }, { target })
  const person = personWithBrowser(odd.visit)

  await expect(
    engine.login(
      { discovery: { ...discovery, mayBePrivate: false }, settings, person, waitMs: 10_000 },
      { target },
    ),
  ).rejects.toMatchObject({ code: 'remote_issuer_invalid' })
  expect(person.steps).toEqual([])
})

test('tokens, codes and secrets are in no failure', async () => {
  const odd = await oddIssuer({
    token: () => ({ status: 400, body: 'the-code secret-of-mine is wrong' }),
  })

  const failure = await logIn(odd, {
    clientId: 'mine',
    clientSecret: 'secret-of-mine',
    callbackPort: await freePort(),
  }).catch((error: unknown) => error)

  expect(failure).toMatchObject({ code: 'remote_issuer_invalid' })
  expect(`${failure}${JSON.stringify(failure)}`).not.toMatch(/the-code|secret-of-mine/)
})
