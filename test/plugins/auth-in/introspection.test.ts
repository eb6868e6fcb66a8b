import { expect, test } from 'vitest'
import { createTokenChecker } from '../../../plugins/auth-in/tokens/token-checker.ts'
import { AUDIENCE, json, stall, startIssuer } from './issuer.ts'

const START = Date.UTC(2026, 0, 1)
const good = { active: true, sub: 'ada', aud: AUDIENCE, exp: START / 1000 + 300, scope: 'read' }
const PATH = '/introspect'

async function arrange(
  answer: object = good,
  config: { clientId?: string; clientSecret?: string; keys?: boolean } = {},
) {
  const { keys = true, ...client } = config
  const clock = { now: START }
  const issuer = await startIssuer(() => clock.now)
  issuer.instead.set(PATH, json(answer))
  const check = createTokenChecker(
    {
      ...(keys ? { issuer: issuer.url } : {}),
      audience: AUDIENCE,
      introspectionUrl: `${issuer.url}${PATH}`,
      allowHttp: true,
      allowPrivateIp: true,
      ...client,
    },
    { now: () => clock.now, timeoutMs: 500 },
  )
  return { issuer, clock, check }
}

test('a token that is not a JWT is introspected with the credentials of the client', async () => {
  const seen: string[] = []
  const { issuer, check } = await arrange(good, { clientId: 'we:1', clientSecret: 'a b+c' })
  issuer.instead.set(PATH, (request, response, body) => {
    seen.push(`${request.method} ${request.headers.authorization} ${body}`)
    json(good)(request, response, body)
  })

  expect(await check('opaque')).toMatchObject({ subject: 'ada', claims: good })

  const login = Buffer.from('we%3A1:a+b%2Bc').toString('base64')
  expect(seen).toEqual([`POST Basic ${login} token=opaque&token_type_hint=access_token`])
})

test.each<[string, Record<string, unknown>]>([
  ['that is not active', { active: false }],
  ['of which that is not said', { active: undefined }],
  ['that is active only in words', { active: 'true' }],
  ['that has expired', { exp: START / 1000 - 31 }],
  ['that expires at no time', { exp: 'soon' }],
  ['that is not valid yet', { nbf: START / 1000 + 31 }],
  ['of another issuer', { iss: 'https://evil.test' }],
  ['for somebody else', { aud: 'https://other.test' }],
  ['for nobody', { aud: undefined }],
  ['of nobody', { sub: undefined }],
])('a token %s is refused', async (_what, change) => {
  const { check } = await arrange({ ...good, ...change })

  await expect(check('opaque')).rejects.toMatchObject({ code: 'token_invalid' })
})

test('a client that acts for itself is its own subject', async () => {
  const { check } = await arrange({ ...good, sub: undefined, client_id: 'robot' })

  expect(await check('opaque')).toMatchObject({ subject: 'robot' })
})

test('a JWT that is refused is not asked about', async () => {
  const { issuer, check } = await arrange()

  await expect(check(await issuer.sign({ aud: 'x' }))).rejects.toMatchObject({ code: 'token_invalid' })

  expect(issuer.asked).not.toContain(PATH)
})

test('without keys every token is asked about, JWTs too', async () => {
  const { issuer, check } = await arrange(good, { keys: false })

  expect(await check(await issuer.sign())).toMatchObject({ subject: 'ada' })
  expect(issuer.asked).toEqual([PATH])
})

test('a response is kept for half a minute, and each token has one request at a time', async () => {
  const { issuer, clock, check } = await arrange()

  await Promise.all([1, 2, 3].map(() => check('opaque')))
  clock.now += 29_000
  await check('opaque')
  expect(issuer.asked).toEqual([PATH])

  issuer.instead.set(PATH, json({ active: false }))
  clock.now += 2000
  await expect(check('opaque')).rejects.toMatchObject({ code: 'token_invalid' })
})

test('a response is not kept beyond the end of its token', async () => {
  const { issuer, clock, check } = await arrange({ ...good, exp: START / 1000 + 10 })
  await check('opaque')
  clock.now += 10_000

  await check('opaque')

  expect(issuer.asked).toEqual([PATH, PATH])
})

test('invented tokens do not make a good one forgotten', async () => {
  const { issuer, check } = await arrange()
  issuer.instead.set(PATH, (request, response, body) =>
    json(body.startsWith('token=opaque&') ? good : { active: false })(request, response, body),
  )
  await check('opaque')
  for (let i = 0; i < 1100; i += 50) {
    await Promise.allSettled(Array.from({ length: 50 }, (_, j) => check(`invented-${i + j}`)))
  }
  const before = issuer.asked.length

  await check('opaque')

  expect(issuer.asked.length - before).toBe(0)
  expect(before).toBe(1101)
})

test.each([
  ['stalls', stall],
  ['fails', json({}, 500)],
  ['refuses us', json({ error: 'invalid_client' }, 401)],
  ['answers a list', json([])],
])(
  'while the endpoint %s the token does not count as invalid, and nothing is kept',
  async (_what, answer) => {
    const { issuer, check } = await arrange()
    issuer.instead.set(PATH, answer)
    await expect(check('opaque')).rejects.toMatchObject({ code: 'auth_unavailable', status: 503 })

    issuer.instead.set(PATH, json(good))
    expect(await check('opaque')).toMatchObject({ subject: 'ada' })
  },
)

test('an endpoint that sends us on gets no token there', async () => {
  const { issuer, check } = await arrange()
  issuer.instead.set(PATH, (_request, response) => response.writeHead(307, { location: '/other' }).end())

  await expect(check('opaque')).rejects.toMatchObject({ code: 'auth_unavailable' })
  expect(issuer.asked).toEqual([PATH])
})

test('an endpoint that stalls holds up a bounded number of callers', async () => {
  const { issuer, check } = await arrange()
  issuer.instead.set(PATH, stall)

  const answers = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => check(`opaque-${i}`)))

  expect(answers.filter(answer => answer.status === 'rejected')).toHaveLength(100)
  expect(issuer.asked).toHaveLength(64)
})
