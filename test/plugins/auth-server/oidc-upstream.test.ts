import { decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import type { IdentityProvider } from '../../support/identity-provider.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { beginLogin, REDIRECT_URI, signal, upstreamOf } from './upstream-world.ts'

const FAILED = { code: 'upstream_login_failed' }
const UNAVAILABLE = { code: 'upstream_unavailable', status: 503 }

const openAt = (provider: IdentityProvider, more: object = {}) =>
  upstreamOf({
    name: 'idp',
    type: 'oidc',
    oidc_config: { issuer_url: provider.issuer, client_id: provider.clientId, ...more },
  })

test('a person who logs in is known by the ID token, and the tokens are returned', async () => {
  const provider = await identityProvider({ account: 'ada' })
  const upstream = await openAt(provider, { scopes: ['openid', 'offline_access', 'email'] })
  const login = await upstream.finish(await beginLogin(upstream, provider.visitElsewhere))
  expect(login).toMatchObject({ subject: 'ada', claims: { iss: provider.issuer, sub: 'ada' } })
  expect(login.tokens).toMatchObject({
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    idToken: expect.any(String),
  })
  expect(login.tokens.expiresAt).toBeGreaterThan(Date.now())
  expect(decodeProtectedHeader(login.tokens.idToken ?? '')).toMatchObject({ alg: 'RS256' })
})

test('the request has PKCE, a nonce and the further parameters, and no secret', async () => {
  const provider = await identityProvider()
  const upstream = await openAt(provider, {
    scopes: ['email'],
    additional_authorization_params: { login_hint: 'ada' },
  })
  const { url, checks } = await beginLogin(upstream, provider.visitElsewhere)
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    ...{ response_type: 'code', client_id: provider.clientId, redirect_uri: REDIRECT_URI, state: 'state-1' },
    ...{ code_challenge_method: 'S256', nonce: checks.nonce, scope: 'openid email', login_hint: 'ada' },
  })
  expect(url.href).not.toContain(checks.verifier)
})

test('the name and the address that the ID token lacks come from the user information of the same person', async () => {
  const provider = await identityProvider({ account: 'ada' })
  const upstream = await openAt(provider)
  const respondAs = (sub: string) =>
    provider.answer((request, response) => {
      if (request.url !== '/me') return false
      const person = { sub, name: 'Ada', email: 'ada@example.org', email_verified: true }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(person))
      return true
    })
  respondAs('ada')
  const login = await upstream.finish(await beginLogin(upstream, provider.visitElsewhere))
  expect(login).toMatchObject({ subject: 'ada', name: 'Ada', email: 'ada@example.org' })
  respondAs('somebody else')
  const other = await beginLogin(upstream, provider.visitElsewhere)
  await expect(upstream.finish(other)).rejects.toMatchObject(FAILED)
})

test('a provider that is asked for a recent login has to say when it was', async () => {
  const provider = await identityProvider({ account: 'ada' })
  const upstream = await openAt(provider, { additional_authorization_params: { max_age: '300' } })
  const login = await upstream.finish(await beginLogin(upstream, provider.visitElsewhere))
  expect(login.claims).toMatchObject({ auth_time: expect.any(Number) })
  const unasked = await beginLogin(upstream, url => {
    const without = new URL(url)
    without.searchParams.delete('max_age')
    return provider.visitElsewhere(without.href)
  })
  await expect(upstream.finish(unasked)).rejects.toMatchObject(FAILED)
})

test('a code is good once, and with its own verifier and nonce only', async () => {
  const provider = await identityProvider()
  const upstream = await openAt(provider)
  const other = await beginLogin(upstream, provider.visitElsewhere)
  for (const wrong of [other.checks, { nonce: 'another nonce' }, { verifier: '', nonce: '' }]) {
    const login = await beginLogin(upstream, provider.visitElsewhere)
    const checks = { ...login.checks, ...wrong }
    await expect(upstream.finish({ ...login, checks })).rejects.toMatchObject(FAILED)
  }
  const login = await beginLogin(upstream, provider.visitElsewhere)
  await upstream.finish(login)
  await expect(upstream.finish(login)).rejects.toMatchObject(FAILED)
})

test('a response of another issuer is refused before the code is sent (RFC 9207)', async () => {
  const provider = await identityProvider()
  const upstream = await openAt(provider)
  for (const issuer of ['https://evil.example', undefined]) {
    const login = await beginLogin(upstream, provider.visitElsewhere)
    if (issuer === undefined) login.callback.searchParams.delete('iss')
    else login.callback.searchParams.set('iss', issuer)
    await expect(upstream.finish(login)).rejects.toMatchObject(FAILED)
  }
  expect(provider.asked.filter(({ path }) => path === '/token')).toHaveLength(0)
})

test('a person who says no is told so, without the words of a page', async () => {
  const provider = await identityProvider()
  provider.decide('deny')
  const upstream = await openAt(provider)
  const login = await beginLogin(upstream, provider.visitElsewhere)
  login.callback.searchParams.set('error_description', 'no\u001b[31m\nway')
  const error = await upstream.finish(login).catch(error => error)
  expect(error).toMatchObject(FAILED)
  expect(error.message).toContain('access_denied')
  for (const control of ['\u001b', '\n']) expect(error.message).not.toContain(control)
})

test('tokens are renewed with the refresh token, which changes', async () => {
  const provider = await identityProvider()
  const upstream = await openAt(provider, { scopes: ['openid', 'offline_access'] })
  const { tokens } = await upstream.finish(await beginLogin(upstream, provider.visitElsewhere))
  const next = await upstream.refresh(tokens, { signal })
  expect(next.accessToken).not.toBe(tokens.accessToken)
  expect(next.refreshToken).not.toBe(tokens.refreshToken)
  await expect(upstream.refresh(tokens, { signal })).rejects.toMatchObject(FAILED)
  await expect(upstream.refresh({ accessToken: 'a' }, { signal })).rejects.toMatchObject(FAILED)
})

test('a client with a secret is authenticated by it', async () => {
  const client = {
    client_id: 'confidential',
    client_secret: 'secret:with %odd characters+',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code'],
  }
  const provider = await identityProvider({ clients: [client] })
  const config = {
    name: 'idp',
    type: 'oidc' as const,
    oidc_config: {
      issuer_url: provider.issuer,
      client_id: 'confidential',
      client_secret_env_var: 'UPSTREAM_SECRET',
    },
  }
  const upstream = await upstreamOf(config, { env: { UPSTREAM_SECRET: `${client.client_secret}\n` } })
  expect(await upstream.finish(await beginLogin(upstream, provider.visitElsewhere))).toMatchObject({
    subject: 'ada',
  })
  const other = await upstreamOf(config, { env: { UPSTREAM_SECRET: 'guess' } })
  await expect(other.finish(await beginLogin(other, provider.visitElsewhere))).rejects.toMatchObject(FAILED)
  await expect(upstreamOf(config)).rejects.toMatchObject({ code: 'upstream_config_invalid' })
})

test('a provider that is away or broken is unavailable, and used again when it is back', async () => {
  const provider = await identityProvider()
  const upstream = await openAt(provider)
  const begin = () => beginLogin(upstream, provider.visitElsewhere)
  provider.answer((_, response) => Boolean(response.writeHead(503).end()))
  await expect(begin()).rejects.toMatchObject(UNAVAILABLE)
  provider.answer(undefined)
  const login = await begin()
  provider.answer((_, response) => Boolean(response.writeHead(502).end('<html>')))
  await expect(upstream.finish(login)).rejects.toMatchObject(UNAVAILABLE)
  provider.answer(undefined)
  expect(await upstream.finish(await begin())).toMatchObject({ subject: 'ada' })
})

test('a provider with the name of another issuer, or without endpoints, is refused', async () => {
  const provider = await identityProvider()
  for (const document of [
    { issuer: 'https://evil.example', authorization_endpoint: `${provider.issuer}/auth` },
    { issuer: provider.issuer },
  ]) {
    provider.answer((request, response) => {
      if (!request.url?.startsWith('/.well-known/')) return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
      return true
    })
    const upstream = await openAt(provider)
    const begun = upstream.authorizationUrl({ redirectUri: REDIRECT_URI, state: 's', signal })
    await expect(begun).rejects.toMatchObject({ code: expect.stringMatching(/^upstream_/) })
  }
})
