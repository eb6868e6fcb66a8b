import { expect, test } from 'vitest'
import { post, rpc } from '../proxy/test-proxy.ts'
import { call, callAs, countingServer, limitedProxy, statusesOf } from './limit-world.ts'

const bucket = (maxTokens: number) => ({ maxTokens, refillPeriod: '1h' })

test('the calls after the last token get 429 with the time to wait, the id and the data', async () => {
  const { target, calls } = await countingServer()
  const { origin } = await limitedProxy({ rate_limit_config: { shared: bucket(3) } }, { target })
  const url = `${origin}/mcp`
  expect(await statusesOf(3, () => callAs(url, ''))).toEqual([200, 200, 200])
  for (const id of ['"a\\u0062"', '12345678901234567890']) {
    const text = call('echo').replace('"id":1', `"id":${id}`)
    const refused = await post(url, text, { accept: 'text/event-stream' })
    const seconds = Number(refused.headers.get('retry-after'))
    expect([refused.status, seconds > 600 && seconds <= 1200]).toEqual([429, true])
    expect(await refused.text()).toBe(
      `{"jsonrpc":"2.0","id":${id},"error":{"code":429,"message":"Rate limit exceeded","data":{"retryAfterSeconds":${seconds}}}}`,
    )
  }
  expect(calls).toHaveLength(3)
})

test('only calls of tools count', async () => {
  const { target } = await countingServer()
  const { origin } = await limitedProxy({ rate_limit_config: { shared: bucket(1) } }, { target })
  const url = `${origin}/mcp`
  for (const method of ['initialize', 'tools/list', 'ping', 'prompts/get']) {
    expect((await post(url, rpc(method, 1))).status).toBe(200)
  }
  expect((await post(url, rpc('notifications/initialized'))).status).toBe(200)
  expect((await fetch(url)).status).toBe(200)
  expect(await statusesOf(2, () => callAs(url, ''))).toEqual([200, 429])
  expect((await post(url, rpc('tools/list', 1))).status).toBe(200)
})

test('users have buckets of their own, by issuer and subject', async () => {
  const { target } = await countingServer()
  const { origin } = await limitedProxy({ rate_limit_config: { perUser: bucket(2) } }, { target })
  const url = `${origin}/mcp`
  for (const user of ['https://a.test ann', 'https://b.test ann', 'https://a.test bob', '']) {
    expect(await statusesOf(3, () => callAs(url, user))).toEqual([200, 200, 429])
  }
})

test('a call takes a token of every bucket or of none', async () => {
  const { target } = await countingServer()
  const config = {
    shared: bucket(4),
    tools: [
      { name: 'delete', shared: bucket(1) },
      { name: 'write', perUser: bucket(1) },
    ],
  }
  const { origin } = await limitedProxy({ rate_limit_config: config }, { target })
  const url = `${origin}/mcp`
  const as = (user: string, tool: string) => statusesOf(2, () => callAs(url, user, tool))
  expect(await as('i ann', 'delete')).toEqual([200, 429])
  expect(await as('i bob', 'delete')).toEqual([429, 429])
  expect(await as('i ann', 'write')).toEqual([200, 429])
  expect(await as('i bob', 'write')).toEqual([200, 429])
  // What was rejected took nothing of the shared bucket.
  expect(await as('i bob', 'read')).toEqual([200, 429])
})

test('each call of a batch counts, and a batch passes as a whole or not at all', async () => {
  const { target, calls } = await countingServer()
  const config = { shared: bucket(3), tools: [{ name: 'b', shared: bucket(1) }] }
  const { origin } = await limitedProxy({ transport: 'sse', rate_limit_config: config }, { target })
  const send = async (...bodies: string[]) => (await post(`${origin}/other`, `[${bodies.join(',')}]`)).status
  expect(await send(call('b'), call('b'))).toBe(429)
  expect(await send(call('a'), call('a'), call('a'), call('a'))).toBe(429)
  expect(await send(call('a'), call('a'), rpc('ping', 1))).toBe(200)
  expect(await send(call('a'), call('a'))).toBe(429)
  expect(await send(call('a'))).toBe(200)
  expect(calls).toHaveLength(2)
})

test('a flood of rejected calls is one line in the log', async () => {
  const { target } = await countingServer()
  const { origin, logged } = await limitedProxy({ rate_limit_config: { shared: bucket(1) } }, { target })
  const statuses = await statusesOf(50, () => callAs(`${origin}/mcp`, ''))
  expect(statuses.filter(status => status === 429)).toHaveLength(49)
  expect(logged.filter(line => line.includes('rate limit is exceeded'))).toHaveLength(1)
})
