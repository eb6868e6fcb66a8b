import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createAdmit } from '../../../plugins/auth-server/grants/admission.ts'
import { authWorld, CALLBACK, fakeUpstream } from './auth-world.ts'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ASSERTION = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

const { privateKey, publicKey } = await generateKeyPair('ES256')
const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] })
const issuerOf = (issuer: string, rules: readonly string[] = []) => ({
  issuer,
  keys,
  admit: createAdmit(rules),
})

const assertionOf = (issuer: string, subject: string, audience: string, claims: object = {}) =>
  new SignJWT({ jti: `${issuer} ${Math.random()}`, ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(audience)
    .setExpirationTime('1m')
    .sign(privateKey)

/** A client with a secret, and what it asks of a server. */
async function service(world: Awaited<ReturnType<typeof authWorld>>) {
  const metadata = {
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', EXCHANGE, ASSERTION],
  }
  const { client_id = '', client_secret = '' } = (await (await world.register(metadata)).json()) as Record<
    string,
    string
  >
  const post = async (origin: string, path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id, client_secret, ...fields })
    const response = await fetch(`${origin}/oauth/${path}`, { method: 'POST', body })
    return (await response.json()) as Record<string, string>
  }
  return {
    introspect: (origin: string, token: string) => post(origin, 'introspect', { token }),
    isActive: async (origin: string, token: string) => (await post(origin, 'introspect', { token })).active,
    exchange: (origin: string, token: string, fields: Record<string, string> = {}) =>
      post(origin, 'token', {
        ...{ grant_type: EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN },
        ...fields,
      }),
    present: (origin: string, assertion: string) =>
      post(origin, 'token', { grant_type: ASSERTION, assertion, resource: world.resource }),
  }
}

const person = (claims: object) => [
  fakeUpstream('default', () => ({ claims: { ...claims, email_verified: true } })),
]
const confidential = { allow_confidential_clients: true }

describe('who is removed from allowed_logins', () => {
  test.each([
    ['by address', { email: 'ada@example.com' }, 'email=ada@example.com', 'email=bob@example.com'],
    ['by group', { groups: ['devs', 'admins'] }, 'groups=admins', 'groups=owners'],
    ['by a claim inside of another', { realm: { roles: ['a'] } }, 'realm.roles=a', 'realm.roles=b'],
    ['by a rule for another claim', { groups: ['admins'] }, 'groups=admins', 'team=admins'],
  ])('%s gets no tokens any more, and those there are end', async (_, claims, rule, later) => {
    const upstreams = person(claims)
    const world = await authWorld({ upstreams, config: { ...confidential, allowed_logins: [rule] } })
    const client = await world.registered()
    const { isActive, exchange } = await service(world)
    const { access_token: token, refresh_token: kept } = await world.loggedIn(client)
    expect(await isActive(world.origin, token)).toBe(true)

    const same = await world.again({
      upstreams,
      config: { ...confidential, allowed_logins: [rule, later] },
    })
    // Two rules for one claim are alternatives; for two claims, both have to match.
    expect(await isActive(same.origin, token)).toBe(rule.split('=')[0] === later.split('=')[0])

    const changed = await world.again({ upstreams, config: { ...confidential, allowed_logins: [later] } })
    expect(await isActive(changed.origin, token)).toBe(false)
    expect(await exchange(changed.origin, token)).toMatchObject({ error: 'invalid_request' })
    const response = await changed.refresh(client, kept)
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }])
  })

  test('gets no tokens for a code either', async () => {
    const world = await authWorld({ upstreams: person({ groups: ['admins'] }) })
    const client = await world.registered()
    const code = (await world.authorized(client)).searchParams.get('code') ?? ''
    const changed = await world.again({
      upstreams: person({ groups: ['admins'] }),
      config: { allowed_logins: ['groups=owners'] },
    })
    const response = await changed.token({ ...world.codeFields(client, code) })
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    expect(world.stored().some(({ kind }) => kind === 'grant')).toBe(false)
  })
})

describe('an assertion', () => {
  const CI = 'https://ci.example'

  test.each([
    ['that the rules allow gives a token', { groups: ['admins'] }, true],
    ['that they do not allow gives none', { groups: ['devs'] }, false],
    ['without the claim gives none', {}, false],
  ])('%s', async (_, claims, isAllowed) => {
    const world = await authWorld({ config: confidential, issuers: [issuerOf(CI, ['groups=admins'])] })
    const { present } = await service(world)
    const response = await present(world.origin, await assertionOf(CI, 'build', world.origin, claims))
    expect(response.error).toBe(isAllowed ? undefined : 'invalid_grant')
    expect(world.stored().some(({ kind }) => kind === 'grant')).toBe(isAllowed)
  })

  test('of an issuer that is not trusted any more ends with it', async () => {
    const world = await authWorld({ config: confidential, issuers: [issuerOf(CI)] })
    const { present, isActive } = await service(world)
    const { access_token: token = '' } = await present(
      world.origin,
      await assertionOf(CI, 'build', world.origin),
    )
    expect(await isActive(world.origin, token)).toBe(true)
    const changed = await world.again({ config: confidential })
    expect(await isActive(changed.origin, token)).toBe(false)
  })

  test('is about nobody whom another issuer, or the provider, can name', async () => {
    const evil = 'https://evil.example'
    const issuers = [issuerOf(CI), issuerOf(`${CI}:x`), issuerOf(evil)]
    const world = await authWorld({ config: confidential, issuers })
    const { present } = await service(world)
    const subjectOf = async (issuer: string, subject: string) => {
      const { access_token: token = '' } = await present(
        world.origin,
        await assertionOf(issuer, subject, world.origin),
      )
      return decodeJwt(token).sub
    }
    const ada = decodeJwt((await world.loggedIn(await world.registered())).access_token).sub
    const asserted = await subjectOf(CI, 'ada')
    const all = [ada, asserted]
    for (const [issuer, subject] of [
      [evil, 'ada'],
      [evil, asserted ?? ''],
      [evil, `${encodeURIComponent(CI)}:ada`],
      [`${CI}:x`, 'ada'],
      [CI, 'x:ada'],
    ] as const)
      all.push(await subjectOf(issuer, subject))
    expect(ada).toBe('ada')
    expect(new Set(all).size).toBe(all.length)
  })

  test('has subjects that nobody gets by a login', async () => {
    const subject = `assertion:${encodeURIComponent(CI)}:build`
    const world = await authWorld({ upstreams: [fakeUpstream('default', () => ({ subject }))] })
    const { url } = await world.browser().follow(world.authorizeUrl(await world.registered()))
    expect(new URL(url).searchParams.get('error')).toBe('access_denied')
    expect(world.stored().some(({ kind }) => kind === 'code' || kind === 'grant')).toBe(false)
  })
})

describe('another provider under the same name', () => {
  const other = [fakeUpstream('default', () => ({}), 'default https://other.example')]

  test('ends the logins of the first', async () => {
    const world = await authWorld()
    const client = await world.registered()
    const { refresh_token: kept } = await world.loggedIn(client)
    const changed = await world.again({ upstreams: other })
    expect((await changed.refresh(client, kept)).status).toBe(400)
  })

  test('has people who have agreed to nothing', async () => {
    const resource = 'https://notes.example/mcp'
    const config = { issuer: '', allowed_audiences: [resource] }
    const world = await authWorld({ config })
    const client = await world.registered()
    await world.authorized(client, { resource })
    const outcome = async (again: Awaited<ReturnType<typeof world.again>>) =>
      (await again.browser().follow(again.authorizeUrl(client, { resource }))).url
    const same = await world.again({ config })
    expect((await outcome(same)).startsWith(CALLBACK)).toBe(true)
    const changed = await world.again({ config, upstreams: other })
    expect((await outcome(changed)).startsWith(`${changed.origin}/oauth/consent?`)).toBe(true)
  })
})

describe('tokens and introspection tell of a person what the scopes say', () => {
  test.each([
    ['openid', {}],
    ['openid profile', { name: 'Ada' }],
    ['openid email', { email: 'ada@example.com' }],
    ['openid profile email', { name: 'Ada', email: 'ada@example.com' }],
  ])('%s', async (scope, said) => {
    const world = await authWorld({ config: confidential })
    const { exchange, introspect } = await service(world)
    const client = await world.registered()
    const { access_token: token, id_token: idToken = '' } = await world.loggedIn(client, { scope })
    const { access_token: whole } = await world.loggedIn(client)
    const { access_token: narrow = '' } = await exchange(world.origin, whole, { scope })
    const all = [
      decodeJwt(token),
      decodeJwt(idToken),
      decodeJwt(narrow),
      await introspect(world.origin, token),
    ]
    for (const { name, email } of all)
      expect({ name, email }).toEqual({ name: undefined, email: undefined, ...said })
  })
})
