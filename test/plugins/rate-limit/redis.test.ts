import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { allNeed } from '../../support/left-out.ts'
import {
  redisClusterNode,
  redisCommands,
  redisProblem,
  redisSentinel,
  redisServer,
} from '../../support/redis-server.ts'
import { callAs, countingServer, limitedProxy, statusesOf } from './limit-world.ts'

allNeed(redisProblem())

const bucket = (maxTokens: number, refillPeriod = '1h') => ({ maxTokens, refillPeriod })
const inRedis = (port: number, database = 0) => ({
  scaling_config: { session_redis: { address: `127.0.0.1:${port}`, db: database } },
})

/** A process with a proxy of its own, which makes calls of it when it is told to. */
async function replica(config: object) {
  const child = fork(new URL('./replica.ts', import.meta.url).pathname, { serialization: 'json' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const answer = async () => (await once(child, 'message'))[0] as Record<string, number>
  child.send(config)
  await answer()
  return {
    call(count: number) {
      child.send({ count })
      return answer()
    },
  }
}

test('of 1,000 calls at once in four processes exactly as many pass as there are tokens', {
  timeout: 120_000,
}, async () => {
  const { port } = await redisServer()
  const config = {
    name: 'notes',
    ...inRedis(port),
    rate_limit_config: { shared: bucket(137), perUser: bucket(200) },
  }
  const replicas = await Promise.all(Array.from({ length: 4 }, () => replica(config)))
  const outcomes = await Promise.all(replicas.map(one => one.call(250)))
  const total = (status: string) => outcomes.reduce((sum, outcome) => sum + (outcome[status] ?? 0), 0)
  expect([total('200'), total('429')]).toEqual([137, 863])
})

test('replicas share what is left, and what was rejected took nothing', async () => {
  const { port } = await redisServer()
  const { target } = await countingServer()
  const config = {
    ...inRedis(port),
    rate_limit_config: { shared: bucket(5), tools: [{ name: 'a', perUser: bucket(1) }] },
  }
  const [one, other] = await Promise.all([limitedProxy(config, { target }), limitedProxy(config, { target })])
  const ask = (proxy: typeof one, user: string, tool: string) => callAs(`${proxy.origin}/mcp`, user, tool)
  expect((await ask(one, 'i ann', 'a')).status).toBe(200)
  const refused = await ask(other, 'i ann', 'a')
  expect([refused.status, Number(refused.headers.get('retry-after')) > 1800]).toEqual([429, true])
  expect(await statusesOf(3, () => ask(other, 'i bob', 'b'))).toEqual([200, 200, 200])
  expect(await statusesOf(2, () => ask(one, 'i ann', 'b'))).toEqual([200, 429])
})

test('tokens come back with the clock of Redis, and buckets that are full again are gone', async () => {
  const { port } = await redisServer()
  const { target } = await countingServer()
  const rate_limit_config = { shared: bucket(2, '400ms'), tools: [{ name: 'b', shared: bucket(1) }] }
  const config = { ...inRedis(port, 3), rate_limit_config, rate_limit_namespace: 'a:b' }
  const { origin } = await limitedProxy(config, { target })
  const redis = await redisCommands(port)
  await redis.select(3)
  const url = `${origin}/mcp`
  expect((await callAs(url, '', 'b')).status).toBe(200)
  for (let round = 0; round < 5; round++) {
    await expect.poll(async () => (await callAs(url, '')).status).toBe(200)
  }
  await expect.poll(() => redis.keys('*')).toEqual(['keelson:limit:{a%3Ab:test}:tool:b'])
  expect(await redis.pTTL('keelson:limit:{a%3Ab:test}:tool:b')).toBeLessThanOrEqual(3_600_000)
})

test('hostile names of tools and users have keys of their own', async () => {
  const { port } = await redisServer()
  const { target } = await countingServer()
  const names = ['__proto__', 'a:b', 'x'.repeat(1000), '\u0000\n\r', '{}:user:local', 'é\ud800']
  const config = {
    ...inRedis(port),
    rate_limit_config: { tools: names.map(name => ({ name, shared: bucket(1), perUser: bucket(1) })) },
  }
  const { origin } = await limitedProxy(config, { target })
  for (const name of names) {
    expect(await statusesOf(2, () => callAs(`${origin}/mcp`, 'i __proto__', name))).toEqual([200, 429])
  }
  const keys = await (await redisCommands(port)).keys('*')
  expect(keys).toHaveLength(names.length * 2)
  expect(keys.filter(key => !/^keelson:limit:\{test\}:[\x21-\x7e]+$/.test(key))).toEqual([])
})

test('while Redis is away the process limits by itself, and goes back by itself', {
  timeout: 120_000,
}, async () => {
  const redis = await redisServer()
  const { target } = await countingServer()
  const config = { ...inRedis(redis.port), rate_limit_config: { shared: bucket(20) } }
  const proxy = await limitedProxy(config, { target })
  const url = `${proxy.origin}/mcp`
  const tally = { 200: 0, 429: 0, other: 0 }
  let isOver = false
  const load = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const { status } = await callAs(url, '')
      if (status === 200 || status === 429) tally[status]++
      else tally.other++
    }
  })
  await expect.poll(() => tally[200]).toBe(20)
  await redis.kill()
  await expect.poll(() => tally[200]).toBe(40) // its own bucket was full
  await redis.restart() // empty
  await expect.poll(() => tally[200], { timeout: 60_000 }).toBe(60)
  await redis.kill()
  const before = tally[429]
  await expect.poll(() => tally[429], { timeout: 60_000 }).toBeGreaterThan(before + 50)
  isOver = true
  await Promise.all(load)
  expect(tally).toMatchObject({ 200: 60, other: 0 })
  expect(proxy.logged.filter(line => line.includes('limits calls by itself'))).toHaveLength(2)
  expect(proxy.logged.filter(line => line.includes('keeps the limits of calls again'))).toHaveLength(1)
})

test('with onError refuse nothing passes while Redis is away', { timeout: 120_000 }, async () => {
  const redis = await redisServer()
  const { target, calls } = await countingServer()
  const config = {
    ...inRedis(redis.port),
    rate_limit_config: { shared: bucket(5), onError: 'refuse' as const },
  }
  const { origin } = await limitedProxy(config, { target })
  const url = `${origin}/mcp`
  expect((await callAs(url, '')).status).toBe(200)
  await redis.kill()
  const refused = await callAs(url, '')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({
    id: 1,
    error: { message: 'The limits of calls cannot be kept now' },
  })
  expect(calls).toHaveLength(1)
  await redis.restart()
  await expect.poll(async () => (await callAs(url, '')).status, { timeout: 60_000 }).toBe(200)
})

test('a Redis that hangs does not hold up calls', { timeout: 60_000 }, async () => {
  const redis = await redisServer()
  const { target } = await countingServer()
  const { origin } = await limitedProxy(
    { ...inRedis(redis.port), rate_limit_config: { shared: bucket(5) } },
    { target },
  )
  redis.process.kill('SIGSTOP')
  onTestFinished(() => void redis.process.kill('SIGCONT'))
  expect(await statusesOf(7, () => callAs(`${origin}/mcp`, ''))).toEqual([200, 200, 200, 200, 200, 429, 429])
})

test('a Sentinel in place of a Redis is refused by name', async () => {
  const primary = await redisServer()
  const sentinel = await redisSentinel(primary.port)
  const config = { ...inRedis(sentinel.port), rate_limit_config: { shared: bucket(1) } }
  await expect(limitedProxy(config)).rejects.toMatchObject({
    code: 'limit_redis_unavailable',
    message: expect.stringContaining('Sentinel'),
  })
})

test('a node of a cluster behind one address is refused, also of a user who may not ask for INFO', async () => {
  const { port } = await redisClusterNode([
    'user limited on >a-password +eval ~keelson:*',
    'user default on nopass ~* +@all',
  ])
  const config = { ...inRedis(port), rate_limit_config: { shared: bucket(1) } }
  const refused = {
    code: 'limit_redis_unavailable',
    message: expect.stringContaining('it is a node of a Redis Cluster, which is not supported'),
  }
  await expect(limitedProxy(config)).rejects.toMatchObject(refused)
  // A cluster of one node, which has all slots.
  const redis = await redisCommands(port)
  await redis.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
  await expect.poll(() => redis.sendCommand(['CLUSTER', 'INFO'])).toContain('cluster_state:ok')
  const env = { KEELSON_SESSION_REDIS_USERNAME: 'limited', KEELSON_SESSION_REDIS_PASSWORD: 'a-password' }
  await expect(limitedProxy(config, { env })).rejects.toMatchObject(refused)
})

test('a user of Redis who may use the keys of limits alone is enough', async () => {
  const { port } = await redisServer([
    'user limited on >a-password +eval +hmget +hset +pexpire +del +time ~keelson:limit:*',
  ])
  const { target } = await countingServer()
  const config = { ...inRedis(port), rate_limit_config: { shared: bucket(1) } }
  const env = { KEELSON_SESSION_REDIS_USERNAME: 'limited', KEELSON_SESSION_REDIS_PASSWORD: 'a-password' }
  const { origin } = await limitedProxy(config, { target, env })
  expect(await statusesOf(2, () => callAs(`${origin}/mcp`, ''))).toEqual([200, 429])
  const [key] = await (await redisCommands(port)).keys('*')
  expect(key).toContain('keelson:limit:')
})

test('without its Redis the proxy does not start, and says which; a password is in the environment', async () => {
  const away = { ...inRedis(1), rate_limit_config: { shared: bucket(1) } }
  await expect(limitedProxy(away)).rejects.toMatchObject({
    code: 'limit_redis_unavailable',
    message: expect.stringContaining('Redis at 127.0.0.1:1,'),
  })
  const { port } = await redisServer(['requirepass a-password'])
  const config = { ...inRedis(port), rate_limit_config: { shared: bucket(1) } }
  await expect(limitedProxy(config)).rejects.toMatchObject({ code: 'limit_redis_unavailable' })
  const wrong = limitedProxy(config, { env: { KEELSON_SESSION_REDIS_PASSWORD: 'other' } })
  await expect(wrong).rejects.toMatchObject({ message: expect.not.stringContaining('other') })
  await limitedProxy(config, { env: { KEELSON_SESSION_REDIS_PASSWORD: 'a-password' } })
})
