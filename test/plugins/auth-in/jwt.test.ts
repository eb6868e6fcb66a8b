import { type CryptoKey, exportSPKI, importJWK, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { createTokenChecker } from '../../../plugins/auth-in/tokens/token-checker.ts'
import { AUDIENCE, type Issuer, json, stall, startIssuer } from './issuer.ts'

const START = Date.UTC(2026, 0, 1)

/** A checker of one issuer, with a clock that stands still unless it is moved. */
async function arrange({ jwks: hasUrl, ...config }: { jwks?: boolean; accessTokensOnly?: boolean } = {}) {
  const clock = { now: START }
  const now = () => clock.now
  const issuer = await startIssuer(now)
  const about = { issuer: issuer.url, audience: AUDIENCE, allowHttp: true, allowPrivateIp: true, ...config }
  const jwks = hasUrl ? { jwksUrl: `${issuer.url}/jwks` } : {}
  return { issuer, clock, check: createTokenChecker({ ...about, ...jwks }, { now, timeoutMs: 500 }) }
}

const invalid = (problem: string) => ({ code: 'token_invalid', message: expect.stringContaining(problem) })

const fetchesOf = (issuer: Issuer) => issuer.asked.filter(path => path === '/jwks').length

test.each(['ES256', 'ES512', 'RS256', 'RS512', 'PS256', 'PS512', 'EdDSA', 'Ed25519'])(
  'a valid token signed with %s is accepted',
  async alg => {
    const { issuer, check } = await arrange()
    await issuer.addKey({ alg })

    const caller = await check(await issuer.sign({ scope: 'read' }))

    expect(caller).toMatchObject({ subject: 'ada', claims: { iss: issuer.url, scope: 'read' } })
  },
)

test.each<[string, Record<string, unknown>, string]>([
  ['has expired', { exp: START / 1000 - 31 }, 'it has expired'],
  ['never expires', { exp: undefined }, 'it lacks the claim "exp"'],
  ['is not valid yet', { nbf: START / 1000 + 31 }, '"nbf"'],
  ['is of another issuer', { iss: 'https://evil.test' }, '"iss"'],
  ['says nothing of its issuer', { iss: undefined }, '"iss"'],
  ['is for somebody else', { aud: 'https://other.test' }, '"aud"'],
  ['is for several others', { aud: ['https://other.test', `${AUDIENCE}/`] }, '"aud"'],
  ['is for nobody', { aud: undefined }, '"aud"'],
  ['is of nobody', { sub: undefined }, '"sub"'],
  ['is of somebody without a name', { sub: '' }, '(sub)'],
  ['is of a number', { sub: 7 }, '(sub)'],
])('a token that %s is refused', async (_what, claims, problem) => {
  const { issuer, check } = await arrange()

  await expect(check(await issuer.sign(claims))).rejects.toMatchObject(invalid(problem))
})

test('a token for several audiences is taken when we are one', async () => {
  const { issuer, check } = await arrange()

  expect(await check(await issuer.sign({ aud: ['x', AUDIENCE] }))).toMatchObject({ subject: 'ada' })
})

test('a token whose claims were changed is refused', async () => {
  const { issuer, check } = await arrange()
  const [header, payload = '', signature] = (await issuer.sign()).split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')

  await expect(check(`${header}.${forged}.${signature}`)).rejects.toMatchObject(invalid('signature'))
})

test('a token without a signature is refused', async () => {
  const { issuer, check } = await arrange()
  const [, payload] = (await issuer.sign()).split('.')
  const none = (alg: string) => Buffer.from(JSON.stringify({ alg, kid: 'key-1' })).toString('base64url')

  for (const alg of ['none', 'None', 'NONE', '']) {
    await expect(check(`${none(alg)}.${payload}.`)).rejects.toMatchObject({ code: 'token_invalid' })
  }
})

test('a token that was signed with the public key as a password is refused', async () => {
  const { issuer, check } = await arrange()
  await issuer.addKey({ alg: 'RS256' })
  const key = issuer.keys.at(-1) ?? {}
  const pem = await exportSPKI((await importJWK(key, 'RS256')) as CryptoKey)
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'root', exp: START / 1000 + 60 }

  for (const password of [pem, pem.trim(), String(key.n), JSON.stringify(key)]) {
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'key-2' })
      .sign(new TextEncoder().encode(password))
    await expect(check(forged)).rejects.toMatchObject(invalid('algorithm'))
  }
})

test('clocks of issuers may differ from ours by thirty seconds', async () => {
  const { issuer, check } = await arrange()

  const token = await issuer.sign({ exp: START / 1000 - 29, nbf: START / 1000 + 29 })

  expect(await check(token)).toMatchObject({ subject: 'ada' })
})

test('a caller has the issuer, the groups and the actors that the token names', async () => {
  const { issuer, check } = await arrange()

  const caller = await check(
    await issuer.sign({
      groups: ['staff', 7],
      roles: ['admin', 'staff'],
      realm_access: { roles: ['offline'] },
      'cognito:groups': ['eu'],
      act: { sub: 'agent', iss: 'https://agents.test', act: { sub: 'scheduler' } },
    }),
  )

  expect(caller).toMatchObject({
    issuer: issuer.url,
    groups: ['staff', 'admin', 'offline', 'eu'],
    actors: [{ subject: 'agent', issuer: 'https://agents.test' }, { subject: 'scheduler' }],
  })
})

test('where only access tokens are accepted, a token has to say that it is one', async () => {
  const { issuer, check } = await arrange({ accessTokensOnly: true })

  await expect(check(await issuer.sign())).rejects.toMatchObject(invalid('RFC 9068'))
  for (const typ of ['at+jwt', 'application/AT+JWT']) {
    expect(await check(await issuer.sign({}, { typ }))).toMatchObject({ subject: 'ada' })
  }
})

test('a key inside the token is not used', async () => {
  const { issuer, check } = await arrange()
  await issuer.addKey({ kid: 'mine', publish: false })
  const other = await startIssuer()
  await other.addKey({ kid: 'mine' })

  const token = await issuer.sign({}, { jwk: other.keys.at(-1), jku: `${other.url}/jwks`, x5u: other.url })

  await expect(check(token)).rejects.toMatchObject(invalid('key'))
  expect(other.asked).toEqual([])
})

test.each(['a.b.c', 'x', '..', 'e30.e30.e30', 'eyJhbGciOiJFUzI1NiJ9..', `${'a'.repeat(9000)}.b.c`])(
  'text that is not a token is refused: %#',
  async text => {
    const { check } = await arrange()

    await expect(check(text)).rejects.toMatchObject({ code: 'token_invalid' })
  },
)

test('keys are fetched once for many tokens', async () => {
  const { issuer, check } = await arrange()
  const token = await issuer.sign()

  await Promise.all(Array.from({ length: 20 }, () => check(token)))

  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks'])
})

test('where the keys are given, the issuer is not asked where they are', async () => {
  const { issuer, check } = await arrange({ jwks: true })

  await check(await issuer.sign())

  expect(issuer.asked).toEqual(['/jwks'])
})

test('a new key is found when a token names it', async () => {
  const { issuer, clock, check } = await arrange()
  await check(await issuer.sign())
  issuer.keys = []
  await issuer.addKey({ kid: 'rotated' })
  clock.now += 11_000

  expect(await check(await issuer.sign())).toMatchObject({ subject: 'ada' })
})

test('a key that was revoked is not accepted once the keys are old', async () => {
  const { issuer, clock, check } = await arrange()
  const token = await issuer.sign({ exp: START / 1000 + 10_000 })
  await check(token)
  issuer.keys = []
  await issuer.addKey({ kid: 'rotated' })
  clock.now += 601_000

  await expect(check(token)).rejects.toMatchObject(invalid('key'))
})

test('however many keys are invented, the issuer is asked once in ten seconds', async () => {
  const { issuer, clock, check } = await arrange()
  await check(await issuer.sign())
  clock.now += 11_000

  const forged = await Promise.all(
    Array.from({ length: 30 }, (_, i) => issuer.sign({}, { kid: `invented-${i}` })),
  )
  const answers = await Promise.allSettled(forged.map(token => check(token)))

  expect(answers.every(({ status }) => status === 'rejected')).toBe(true)
  expect(fetchesOf(issuer)).toBe(2)
})

test.each([
  ['stalls', stall],
  ['fails', json({}, 500)],
  ['answers no keys', json({ error: 'x' })],
  ['answers a page', json('<html>')],
])(
  'while the issuer %s the token does not count as invalid, and the issuer is not asked again at once',
  async (_what, answer) => {
    const { issuer, clock, check } = await arrange()
    const token = await issuer.sign()
    issuer.instead.set('/jwks', answer)

    for (const _ of [1, 2, 3])
      await expect(check(token)).rejects.toMatchObject({ code: 'auth_unavailable', status: 503 })
    expect(fetchesOf(issuer)).toBe(1)

    issuer.instead.clear()
    clock.now += 11_000
    expect(await check(token)).toMatchObject({ subject: 'ada' })
  },
)

test('keys outlive an issuer that is away for an hour, and no longer', async () => {
  const { issuer, clock, check } = await arrange()
  const token = await issuer.sign({ exp: START / 1000 + 10_000 })
  await check(token)
  issuer.instead.set('/jwks', json({}, 500))

  clock.now += 1_800_000
  expect(await check(token)).toMatchObject({ subject: 'ada' })
  clock.now += 1_900_000
  await expect(check(token)).rejects.toMatchObject({ code: 'auth_unavailable' })
})

test.each([
  ['another issuer', { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/jwks' }],
  ['nobody', {}],
])('a discovery document that names %s is not believed', async (_what, document) => {
  const { issuer, check } = await arrange()
  issuer.instead.set('/.well-known/openid-configuration', json(document))

  await expect(check(await issuer.sign())).rejects.toMatchObject({
    code: 'auth_unavailable',
    message: expect.stringContaining('discovery document'),
  })
})

test('an issuer in a private network, or one that leads there, is not asked unless that is allowed', async () => {
  const issuer = await startIssuer()
  const check = createTokenChecker({ issuer: issuer.url, audience: AUDIENCE, allowHttp: true })

  await expect(check(await issuer.sign())).rejects.toMatchObject({
    code: 'auth_unavailable',
    message: expect.stringContaining('private address'),
  })
  expect(issuer.asked).toEqual([])
})
