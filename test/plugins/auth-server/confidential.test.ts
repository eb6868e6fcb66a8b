import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { authWorld } from './auth-world.ts'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ASSERTION = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const TRUSTED = 'https://ci.example'

const { privateKey, publicKey } = await generateKeyPair('ES256')
const foreign = await generateKeyPair('ES256')

/** A server where clients may have secrets, and one that has. */
async function world() {
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] })
  const made = await authWorld({
    config: { allow_confidential_clients: true },
    issuers: [{ issuer: TRUSTED, keys, admit: () => ({}) }],
  })
  const response = await made.register({
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', EXCHANGE, ASSERTION],
  })
  const { client_id: id, client_secret: secret } = (await response.json()) as Record<string, string>
  const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = basic) =>
    fetch(`${made.origin}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(fields), headers })
  const exchange = (token: string, fields: Record<string, string> = {}) =>
    post('token', { grant_type: EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN, ...fields })
  const assertion = (claims: object = {}, key = privateKey) =>
    new SignJWT({ jti: 'one', ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(TRUSTED)
      .setSubject('build')
      .setAudience(made.origin)
      .setExpirationTime(Math.floor(made.clock.ms / 1000) + 60)
      .sign(key)
  const present = (token: string) => post('token', { grant_type: ASSERTION, assertion: token })
  const user = await made.registered()
  return { ...made, id, secret, post, exchange, assertion, present, user, login: () => made.loggedIn(user) }
}

test('a token is exchanged for one with fewer scopes, as long a life, and its actor', async () => {
  const { exchange, login, id } = await world()
  const { access_token: whole } = await login()
  const response = await exchange(whole, { scope: 'openid' })
  const { access_token: narrow, issued_token_type: type } = (await response.json()) as Record<string, string>
  expect(type).toBe(ACCESS_TOKEN)
  const { aud, sub, exp } = decodeJwt(whole)
  expect(decodeJwt(narrow ?? '')).toMatchObject({
    aud,
    sub,
    exp,
    scope: 'openid',
    client_id: id,
    act: { sub: id },
  })
  const again = (await (await exchange(narrow ?? '')).json()) as Record<string, string>
  expect(decodeJwt(again.access_token ?? '').act).toEqual({ sub: id, act: { sub: id } })
})

test.each([
  ['to more scopes', { scope: 'openid admin' }, 'invalid_scope'],
  ['to another server', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['to another audience', { audience: 'https://other.example/mcp' }, 'invalid_target'],
  [
    'to a refresh token',
    { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    'invalid_request',
  ],
  ['as an ID token', { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' }, 'invalid_request'],
  ['with an actor of no type', { actor_token: 'x' }, 'invalid_request'],
])('a token is not exchanged %s', async (_, fields, error) => {
  const { exchange, login } = await world()
  const response = await exchange((await login()).access_token, fields)
  expect([response.status, await response.json()]).toMatchObject([400, { error }])
})

test('a token whose login has ended, one with another key and one of another form are not exchanged', async () => {
  const { exchange, login, post, user } = await world()
  const { access_token: token } = await login()
  const forged = await new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .sign(foreign.privateKey)
  expect((await exchange(forged)).status).toBe(400)
  expect((await exchange('opaque')).status).toBe(400)
  expect((await post('revoke', { token, client_id: user }, {})).status).toBe(200)
  expect((await exchange(token)).status).toBe(400)
})

test('an assertion of a trusted issuer gives an access token, once, and no refresh token', async () => {
  const { assertion, present, stored } = await world()
  const token = await assertion()
  const response = await present(token)
  const tokens = (await response.json()) as Record<string, string>
  expect(decodeJwt(tokens.access_token ?? '')).toMatchObject({
    sub: `assertion:${encodeURIComponent(TRUSTED)}:build`,
  })
  expect(tokens.refresh_token).toBeUndefined()
  const again = await present(token)
  expect(await again.json()).toMatchObject({ error: 'invalid_grant' })
  expect(stored().filter(({ kind }) => kind === 'grant')).toHaveLength(1)
})

test('an assertion of another key, audience, issuer, client, or a long life is refused', async () => {
  const { assertion, present, stored, clock } = await world()
  const seconds = Math.floor(clock.ms / 1000)
  const sign = (claims: object) =>
    new SignJWT({ iss: TRUSTED, sub: 'build', jti: 'x', exp: seconds + 60, ...claims } as never)
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey)
  const bad = [
    await assertion({}, foreign.privateKey),
    await sign({ aud: 'https://other.example' }),
    await sign({}),
    await sign({ iss: 'https://evil.example' }),
    await assertion({ client_id: 'another' }),
    await assertion({ jti: undefined }),
    await sign({ aud: decodeJwt(await assertion()).aud, exp: seconds + 7200 }),
    await sign({ aud: decodeJwt(await assertion()).aud, exp: seconds - 60 }),
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await assertion()).split('.')[1]}.`,
  ]
  const before = stored().length
  for (const token of bad) {
    const response = await present(token)
    expect([response.status, await response.json()], token).toMatchObject([400, { error: 'invalid_grant' }])
  }
  expect(stored()).toHaveLength(before)
})

test('introspection tells clients with a secret what a token says, and nobody else', async () => {
  const { post, login, user } = await world()
  const { access_token: token, refresh_token: kept } = await login()
  expect(await (await post('introspect', { token })).json()).toMatchObject({ active: true, sub: 'ada' })
  expect(await (await post('introspect', { token: kept })).json()).toEqual({ active: false })
  expect(await (await post('introspect', { token: 'unknown' })).json()).toEqual({ active: false })
  expect((await post('introspect', { token, client_id: user }, {})).status).toBe(401)
  await post('revoke', { token: kept, client_id: user }, {})
  expect(await (await post('introspect', { token })).json()).toEqual({ active: false })
})

test('a client ends its own logins only, and is not told whether a token was one', async () => {
  const { post, login, registered, refresh, user } = await world()
  const { refresh_token: kept } = await login()
  const other = await registered()
  expect((await post('revoke', { token: kept, client_id: other }, {})).status).toBe(200)
  expect((await post('revoke', { token: 'unknown', client_id: user }, {})).status).toBe(200)
  const next = await refresh(user, kept)
  expect(next.status).toBe(200)
  const { refresh_token: last } = (await next.json()) as { refresh_token: string }
  await post('revoke', { token: last, client_id: user }, {})
  expect((await refresh(user, last)).status).toBe(400)
})

test.each([
  ['a wrong secret', (id: string) => `${id}:wrong`],
  ['no secret', (id: string) => `${id}:`],
  ['another name', () => 'nobody:secret'],
])('a client with %s is refused, and told how to authenticate', async (_, credentials) => {
  const { post, id = '' } = await world()
  const authorization = `Basic ${Buffer.from(credentials(id)).toString('base64')}`
  const response = await post('introspect', { token: 'x' }, { authorization })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toContain('Basic')
})

test('a client that registered with a secret cannot do without it, nor send it in another way', async () => {
  const { post, id = '', secret = '' } = await world()
  expect((await post('introspect', { token: 'x', client_id: id }, {})).status).toBe(401)
  expect((await post('introspect', { token: 'x', client_id: id, client_secret: secret }, {})).status).toBe(
    401,
  )
})
