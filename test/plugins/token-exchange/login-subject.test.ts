import { expect, test } from 'vitest'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { claimsOf } from '../../support/exchange-grants.ts'
import { type ExchangeWorld, exchangeWorld } from './exchange-world.ts'

/** Stands for the login at the remote server, which gives each request its token and gets another when one is refused. */
async function loggedIn(tokens: (world: ExchangeWorld) => Promise<readonly string[]>) {
  const held: string[] = []
  let renewals = 0
  const login: MiddlewareFactory = async () => ({
    name: 'credentials',
    stage: 'credentials',
    wrap: next => exchange => {
      const [token] = held
      if (token !== undefined) exchange.setHeader('authorization', `Bearer ${token}`)
      exchange.onRefused = async () => {
        renewals++
        held.shift()
        exchange.setHeader('authorization', `Bearer ${held[0]}`)
      }
      return next(exchange)
    },
  })
  const config = { remote_auth_config: { issuer: 'https://login.example' } }
  const world = await exchangeWorld({}, { config, middlewares: [login] })
  held.push(...(await tokens(world)))
  return { ...world, renewals: () => renewals }
}

test('the token of the login at the remote server is exchanged', async () => {
  const { call, seen } = await loggedIn(async ({ tokenOf }) => [await tokenOf('us')])

  expect((await call('a token of the client')).status).toBe(200)

  expect(claimsOf(seen[0]?.authorization)).toMatchObject({ sub: 'us', aud: 'https://server.example' })
})

test('a login that is over is renewed, and its new token exchanged', async () => {
  const { call, seen, renewals } = await loggedIn(async ({ provider, tokenOf }) => [
    await provider.sign({ sub: 'us' }, { seconds: -100 }),
    await tokenOf('us again'),
  ])

  expect((await call(undefined)).status).toBe(200)

  expect(renewals()).toBe(1)
  expect(seen.map(({ authorization }) => claimsOf(authorization).sub)).toEqual(['us again'])
})

test('the token of the login itself never reaches the server, also where that refuses the exchanged one', async () => {
  const own: string[] = []
  const { call, seen, refused } = await loggedIn(async ({ tokenOf }) => {
    own.push(await tokenOf('us'), await tokenOf('us'))
    return own
  })
  refused.has = () => true

  expect((await call(undefined)).status).toBe(503)

  expect(seen).toHaveLength(1)
  for (const token of own) expect(JSON.stringify(seen)).not.toContain(token)
})

test('without any token of the login, and after one that cannot be renewed, the server sees nothing', async () => {
  const over = await loggedIn(async ({ provider }) => [
    await provider.sign({ sub: 'us' }, { seconds: -100 }),
    await provider.sign({ sub: 'us' }, { seconds: -50 }),
  ])
  const none = await loggedIn(async () => [])

  const answers = [await over.call(undefined), await none.call('a token of the client')]

  expect(
    answers.map(({ status, text }) => [status, text.includes('gives no token that can be exchanged')]),
  ).toEqual([
    [503, true],
    [503, true],
  ])
  expect([...over.seen, ...none.seen]).toEqual([])
})
