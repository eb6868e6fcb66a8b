import { expect, onTestFinished, test } from 'vitest'
import { openKeys } from '../../../plugins/auth-server/keys/open-keys.ts'
import { sendReply } from '../../../plugins/auth-server/protocol/reply.ts'
import { createAuthServer } from '../../../plugins/auth-server/server.ts'
import { toSettings } from '../../../plugins/auth-server/settings.ts'
import { openStore } from '../../../plugins/auth-server/storage/open-store.ts'
import { allNeed } from '../../support/left-out.ts'
import { redisProblem, redisServer } from '../../support/redis-server.ts'
import { testProxy } from '../proxy/test-proxy.ts'
import { CALLBACK, fakeUpstream, oauthClient } from './auth-world.ts'

allNeed(redisProblem())

/** Three proxies with the same authorization server, each with a connection of its own to one Redis. */
async function replicas(settings: readonly string[] = []) {
  const redis = await redisServer(settings)
  const { signing: keys, secrets } = await openKeys(
    { upstreams: [] },
    { folder: '/nowhere', log: { warn() {} } },
  )
  const origins: string[] = []
  for (let replica = 0; replica < 3; replica++) {
    const store = await openStore(
      { type: 'redis', redis_config: { addr: `127.0.0.1:${redis.port}` } },
      { name: 'notes', folder: '/nowhere', env: {}, log: console, secrets: ['one secret for all'] },
    )
    onTestFinished(() => store.close())
    const proxy = await testProxy({
      middlewares: [
        async (_, { port }) => {
          const first = origins[0] ?? `http://127.0.0.1:${port}`
          const settings = toSettings({ upstreams: [], issuer: first }, `${first}/mcp`)
          const server = createAuthServer({ settings, store, upstreams: [fakeUpstream()], secrets, keys })
          return {
            name: 'auth-server',
            stage: 'well-known',
            pages: server.pages,
            wrap: next => exchange => {
              const reply = server.respond(exchange)
              return reply
                ? reply.then(made => sendReply(exchange.request, exchange.response, made))
                : next(exchange)
            },
          }
        },
      ],
    })
    origins.push(proxy.origin)
  }
  const clients = origins.map(oauthClient)
  const at = (replica: number) => {
    const client = clients[replica]
    if (!client) throw new Error(`there is no replica ${replica}`)
    return client
  }
  const { resource } = at(0)

  /** Begins a login at the second or third replica; the person comes back to the first. Returns the page that they see then. */
  async function begin(replica: number, clientId: string) {
    const there = at(replica).browser()
    const { url } = await there.follow(at(replica).authorizeUrl(clientId, { resource }))
    const tab = at(0).browser()
    for (const [name, value] of there.cookies) tab.cookies.set(name, value)
    return { tab, page: await tab.follow(url) }
  }
  const codeOf = (url: string) => new URL(url).searchParams.get('code') ?? ''
  const redeem = (replica: number, clientId: string, code: string) =>
    at(replica).token({ ...at(replica).codeFields(clientId, code), resource })
  return { at, begin, codeOf, redeem, resource, redis }
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}
const tokensOf = async (response: Response) => (await response.json()) as Tokens

test('three replicas on one Redis share clients, logins, codes, consents and grants', async () => {
  const { at, begin, codeOf, redeem } = await replicas()
  const client = await at(1).registered()
  const { tab, page } = await begin(2, client)
  expect(page.response.status).toBe(200)
  const agreed = await tab.press(await page.response.text(), 'allow')
  const first = await redeem(1, client, codeOf(agreed.url))
  expect(first.status).toBe(200)
  const renewed = await at(2).refresh(client, (await tokensOf(first)).refresh_token)
  expect(renewed.status).toBe(200)
  expect((await at(0).refresh(client, (await tokensOf(renewed)).refresh_token)).status).toBe(200)

  const again = await begin(1, client)
  expect(codeOf(again.page.url)).not.toBe('') // no page: they have agreed before
})

test('of three replicas that redeem one code at once, at most one succeeds, and its grant ends', async () => {
  const { at, begin, codeOf, redeem } = await replicas()
  const client = await at(0).registered()
  const { tab, page } = await begin(1, client)
  await tab.press(await page.response.text(), 'allow')
  for (let round = 0; round < 5; round++) {
    const code = codeOf((await begin(1 + (round % 2), client)).page.url)
    const responses = await Promise.all([0, 1, 2, 0, 1, 2].map(replica => redeem(replica, client, code)))
    const granted = responses.filter(({ status }) => status === 200)
    expect(granted.length).toBeLessThanOrEqual(1)
    for (const response of granted) {
      const { refresh_token: token } = await tokensOf(response)
      for (const replica of [0, 1, 2]) expect((await at(replica).refresh(client, token)).status).toBe(400)
    }
  }
})

test('of three replicas that refresh at once, at most one succeeds, and reuse is seen everywhere', async () => {
  const { at, begin, codeOf, redeem } = await replicas()
  const client = await at(0).registered()
  const { tab, page } = await begin(1, client)
  const agreed = await tab.press(await page.response.text(), 'allow')
  let { refresh_token: token } = await tokensOf(await redeem(0, client, codeOf(agreed.url)))
  for (let round = 0; round < 5; round++) {
    const responses = await Promise.all([0, 1, 2, 0, 1, 2].map(replica => at(replica).refresh(client, token)))
    const granted = responses.filter(({ status }) => status === 200)
    expect(granted.length).toBeLessThanOrEqual(1)
    for (const response of granted) {
      const { refresh_token: next } = await tokensOf(response)
      for (const replica of [0, 1, 2]) expect((await at(replica).refresh(client, next)).status).toBe(400)
    }
    const code = codeOf((await begin(1 + (round % 2), client)).page.url)
    token = (await tokensOf(await redeem(round % 3, client, code))).refresh_token
  }
})

test('a Redis that is killed while people log in loses no login that was acknowledged, and makes others wait', async () => {
  const { at, redeem, codeOf, resource, redis } = await replicas(['appendonly yes', 'appendfsync always'])
  const id = await at(0).registered()
  const acknowledged: Tokens[] = []
  const refused = new Set<number>()
  const isOver = { yet: false }

  async function logIn(replica: number): Promise<void> {
    const tab = at(0).browser()
    const { response, url } = await tab.follow(at(0).authorizeUrl(id, { resource }))
    if (response.status >= 400) return void refused.add(response.status)
    const agreed = url.startsWith(CALLBACK) ? url : (await tab.press(await response.text(), 'allow')).url
    if (!agreed.startsWith(CALLBACK)) return // the page of an error
    const issued = await redeem(replica, id, codeOf(agreed))
    if (issued.status === 200) acknowledged.push(await tokensOf(issued))
    else refused.add(issued.status)
  }
  const people = [0, 1, 2].map(async replica => {
    while (!isOver.yet) await logIn(replica)
  })
  await expect.poll(() => acknowledged.length).toBeGreaterThan(5)
  await redis.kill()
  await expect.poll(() => refused.size).toBeGreaterThan(0)
  const before = acknowledged.length
  await redis.restart()
  await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 5)
  isOver.yet = true
  await Promise.all(people)

  expect([...refused]).toEqual([503])
  const renewed = await Promise.all(
    acknowledged.map(({ refresh_token: token }, index) => at(index % 3).refresh(id, token)),
  )
  expect(renewed.filter(({ status }) => status !== 200)).toEqual([])
}, 120_000)
