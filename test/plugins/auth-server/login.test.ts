import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { authWorld, CALLBACK } from './auth-world.ts'

test('the metadata names the endpoints, S256 alone, and that responses carry iss', async () => {
  const { origin } = await authWorld()
  for (const path of [
    'oauth-authorization-server',
    'openid-configuration',
    'oauth-authorization-server/mcp',
  ]) {
    const response = await fetch(`${origin}/.well-known/${path}`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
    expect(await response.json()).toMatchObject({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/oauth/token`,
      registration_endpoint: `${origin}/oauth/register`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
  }
})

test('a code is exchanged for a token that says who may do what, where and for which client', async () => {
  const { origin, resource, registered, loggedIn } = await authWorld()
  const client = await registered()
  const { access_token: token } = await loggedIn(client, { scope: 'openid email' })
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
  const claims = decodeJwt(token)
  expect(claims).toMatchObject({
    ...{ iss: origin, sub: 'ada', aud: resource, client_id: client, scope: 'openid email' },
    ...{ email: 'ada@example.com', jti: expect.any(String), tsid: expect.any(String) },
  })
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600)
})

test('an ID token tells the client who logged in, with the nonce of its request', async () => {
  const { origin, resource, registered, loggedIn, refresh } = await authWorld()
  const client = await registered()
  const first = await loggedIn(client, { scope: 'openid email', nonce: 'nonce of the client' })
  const keys = createRemoteJWKSet(new URL(`${origin}/.well-known/jwks.json`))
  const expected = { issuer: origin, audience: client, typ: 'JWT', requiredClaims: ['iat', 'exp'] }
  const { payload } = await jwtVerify(first.id_token ?? '', keys, expected)
  expect(payload).toMatchObject({ sub: 'ada', email: 'ada@example.com', nonce: 'nonce of the client' })
  expect(payload).not.toHaveProperty('name')
  expect(payload.aud).not.toBe(resource)

  const second = (await (await refresh(client, first.refresh_token)).json()) as typeof first
  const again = await jwtVerify(second.id_token ?? '', keys, expected)
  expect(again.payload).toMatchObject({ sub: 'ada' })
  expect(again.payload).not.toHaveProperty('nonce')
})

test('without the scope openid there is no ID token', async () => {
  const { registered, loggedIn } = await authWorld()
  expect(await loggedIn(await registered(), { scope: 'email' })).not.toHaveProperty('id_token')
})

test('the client gets its state back and the issuer', async () => {
  const { origin, registered, authorized } = await authWorld()
  const { href, searchParams } = await authorized(await registered())
  expect(href.startsWith(`${CALLBACK}?`)).toBe(true)
  expect(searchParams.get('state')).toBe('state of the client')
  expect(searchParams.get('iss')).toBe(origin)
})

test('nothing that a client holds stands in the storage', async () => {
  const { registered, authorized, loggedIn, stored } = await authWorld()
  const client = await registered()
  const tokens = await loggedIn(client)
  const code = (await authorized(client)).searchParams.get('code') ?? 'none'
  const text = JSON.stringify(stored())
  for (const secret of [code, ...Object.values(tokens)]) expect(text).not.toContain(secret)
})

test('a refresh token is replaced at each use', async () => {
  const { registered, loggedIn, refresh } = await authWorld()
  const client = await registered()
  const first = await loggedIn(client)
  const second = (await (await refresh(client, first.refresh_token)).json()) as typeof first
  expect(second.refresh_token).not.toBe(first.refresh_token)
  expect((await refresh(client, second.refresh_token)).status).toBe(200)
})

test('a used refresh token ends the login of whoever has its successor', async () => {
  const { registered, loggedIn, refresh, stored } = await authWorld()
  const client = await registered()
  const first = await loggedIn(client)
  const second = (await (await refresh(client, first.refresh_token)).json()) as typeof first
  expect((await refresh(client, first.refresh_token)).status).toBe(400)
  const response = await refresh(client, second.refresh_token)
  expect(await response.json()).toMatchObject({ error: 'invalid_grant' })
  expect(stored().filter(({ kind }) => kind === 'grant' || kind === 'upstream')).toEqual([])
})

test('of ten uses of one refresh token at once at most one gets tokens, and then they do not last', async () => {
  const { registered, loggedIn, refresh } = await authWorld()
  const client = await registered()
  const { refresh_token: token } = await loggedIn(client)
  const responses = await Promise.all(Array.from({ length: 10 }, () => refresh(client, token)))
  const won = responses.filter(({ status }) => status === 200)
  expect(won.length).toBeLessThanOrEqual(1)
  const later = won.map(async response => {
    const { refresh_token: next } = (await response.json()) as { refresh_token: string }
    return (await refresh(client, next)).status
  })
  expect(await Promise.all(later)).toEqual(won.map(() => 400))
})

test('a code that is used twice ends the login that it was used for', async () => {
  const { registered, loggedIn, token, codeFields, refresh } = await authWorld()
  const client = await registered()
  const { code, refresh_token: kept } = await loggedIn(client)
  const again = await token(codeFields(client, code))
  expect([again.status, await again.json()]).toMatchObject([400, { error: 'invalid_grant' }])
  expect((await refresh(client, kept)).status).toBe(400)
})

test('whoever agreed once is not asked again for the same client, unless it wants more', async () => {
  const { registered, authorized, authorizeUrl, browser } = await authWorld()
  const client = await registered()
  await authorized(client, { scope: 'openid' })
  const again = await browser().follow(authorizeUrl(client, { scope: 'openid' }))
  expect(again.url.startsWith(CALLBACK)).toBe(true)
  const more = await browser().follow(authorizeUrl(client, { scope: 'openid email' }))
  expect(await more.response.text()).toContain('Allow this program?')
  const other = await browser().follow(authorizeUrl(await registered(), { scope: 'openid' }))
  expect(await other.response.text()).toContain('Allow this program?')
})
