import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuthenticate } from '../../../plugins/auth-in/middlewares.ts'
import { createCallerAuth } from '../../../plugins/auth-in/service.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { createLog } from '../../../src/log.ts'
import { claimsOf } from '../../support/exchange-grants.ts'
import { RESOURCE } from '../auth-in/login-proxy.ts'
import { exchangeWorld } from './exchange-world.ts'

test('the server gets the exchanged token of the caller, and not the caller’s own', async () => {
  const { tokenOf, call, seen, provider } = await exchangeWorld({ scopes: ['read', 'write'] })
  const token = await tokenOf('ada')

  expect((await call(token)).status).toBe(200)

  expect(claimsOf(seen[0]?.authorization)).toMatchObject({
    sub: 'ada',
    aud: 'https://server.example',
    scope: 'read write',
    client_id: provider.service.id,
  })
  expect(JSON.stringify(seen)).not.toContain(token)
})

test('a token is exchanged once for all calls of its caller, also for those at the same time', async () => {
  const { tokenOf, call, seen, exchanges } = await exchangeWorld()
  const [ada, bob] = [await tokenOf('ada'), await tokenOf('bob')]

  await Promise.all(Array.from({ length: 10 }, () => call(ada)))
  await call(ada)
  await call(bob)

  expect(exchanges()).toBe(2)
  expect(seen.map(headers => claimsOf(headers.authorization).sub)).toEqual([...Array(11).fill('ada'), 'bob'])
})

test('a header of its own gets the token, and Authorization nothing', async () => {
  const { tokenOf, call, seen } = await exchangeWorld({
    header_strategy: 'custom',
    external_token_header_name: 'X-Upstream-Token',
  })

  await call(await tokenOf('ada'))

  expect(seen[0]?.authorization).toBeUndefined()
  expect(claimsOf(String(seen[0]?.['x-upstream-token'])).sub).toBe('ada')
})

test('an exchanged token that the server has stopped to accept is replaced after a while, and the call sent again', async () => {
  const { tokenOf, call, seen, refused, exchanges } = await exchangeWorld()
  const token = await tokenOf('ada')
  await call(token)
  refused.add(seen[0]?.authorization ?? '')
  expect((await call(token)).status).toBe(503)

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect((await call(token)).status).toBe(200)

  expect(exchanges()).toBe(2)
  expect(new Set(seen.map(headers => headers.authorization)).size).toBe(2)
})

test('a caller whose token can no longer be exchanged learns where to log in again', async () => {
  const authenticate: MiddlewareFactory = async ({ oidc_config: oidc = {} }) =>
    createAuthenticate(
      createCallerAuth(
        { issuer: oidc?.issuer, audience: oidc?.audience, allowHttp: true, allowPrivateIp: true },
        { log: createLog({ write: () => undefined, human: false, debug: false }), resourceUrl: RESOURCE },
      ),
    )
  const { tokenOf, call, provider, seen } = await exchangeWorld({}, { middlewares: [authenticate] })
  provider.answer(({ url }, response) => {
    if (url !== '/token') return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    return true
  })

  const { status, headers } = await call(await tokenOf('ada'))

  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer resource_metadata="https://tools.test/.well-known/oauth-protected-resource/mcp", ' +
      'error="invalid_token", error_description="Token exchange failed: the token is not accepted (invalid_grant)"',
  ])
  expect(seen).toEqual([])
})

describe('the server sees nothing of a call', () => {
  test('without a token', async () => {
    const { call, seen, exchanges } = await exchangeWorld()
    const { status, headers } = await call(undefined)
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="Token exchange failed: there is no token"',
    ])
    expect([seen.length, exchanges()]).toEqual([0, 0])
  })

  test('whose token the provider does not accept; the provider is not asked again at once', async () => {
    const { provider, call, seen, exchanges } = await exchangeWorld()
    const over = await provider.sign({ sub: 'ada' }, { seconds: -100 })

    const answers = [await call(over), await call(over), await call(over)]

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(JSON.parse(answers[0]?.text ?? '')).toEqual({
      error: 'invalid_token',
      error_description: 'Token exchange failed: the token is not accepted (invalid_grant)',
    })
    expect([seen.length, exchanges()]).toEqual([0, 1])
  })

  test('of somebody who may not use the server', async () => {
    const { tokenOf, call, seen } = await exchangeWorld()
    const { status, text, headers } = await call(await tokenOf('mallory'))
    expect([status, JSON.parse(text).error, headers.get('www-authenticate')]).toEqual([
      403,
      'access_denied',
      null,
    ])
    expect(seen).toEqual([])
  })

  test('when our own client is refused, which callers are told without details', async () => {
    const { tokenOf, call, seen, proxy } = await exchangeWorld({ client_secret: 'a-wrong-secret' })
    const { status, text } = await call(await tokenOf('ada'))
    expect(status).toBe(502)
    expect(text).toContain('Tokens cannot be exchanged for the server')
    expect(text).not.toContain('invalid_client')
    expect(proxy.logged.join()).toContain('it refuses the request with invalid_client')
    expect(proxy.logged.join()).not.toContain('a-wrong-secret')
    expect(seen).toEqual([])
  })

  test('while the provider is away', async () => {
    const { tokenOf, call, seen, provider } = await exchangeWorld()
    const token = await tokenOf('ada')
    await provider.stop()
    const { status, headers } = await call(token)
    expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    expect(seen).toEqual([])
  })

  test('when the server accepts no exchanged token at all', async () => {
    const { tokenOf, call, seen, refused } = await exchangeWorld()
    refused.has = () => true
    const { status, headers, text } = await call(await tokenOf('ada'))
    expect([status, headers.get('retry-after')]).toEqual([503, '10'])
    expect(text).toContain('does not accept the exchanged token')
    expect(seen).toHaveLength(1)
  })
})
