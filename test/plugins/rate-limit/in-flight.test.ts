import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createPuppet } from '../proxy/bridge/puppet-server.ts'
import { spawnFixture } from '../proxy/bridge/spawn-server.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { call, callAs, limitedProxy } from './limit-world.ts'

const STREAM = { accept: 'text/event-stream' }
const JSON_ONLY = { accept: 'application/json' }

/** A proxy of a stdio server whose every word the test says. */
async function stdioProxy(
  rate_limit_config: object,
  proxy_mode: 'streamable-http' | 'sse' = 'streamable-http',
) {
  const puppet = createPuppet()
  const proxy = await limitedProxy({ transport: 'stdio', proxy_mode, rate_limit_config })
  await proxy.connect({ kind: 'stdio', attachment: puppet.attachment })
  const respond = async () => {
    const { message } = await puppet.take('tools/call')
    puppet.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
  }
  return { puppet, proxy, url: `${proxy.origin}/mcp`, respond }
}

/** A proxy of an HTTP server that holds its responses. */
async function httpProxy(rate_limit_config: object) {
  const held: ServerResponse[] = []
  const got: { body: string; session: unknown; authorization: unknown; isGone: boolean }[] = []
  const target = await testServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { authorization, 'mcp-session-id': session } = request.headers
      if (request.headers['mcp-method'] === 'server/discover') return void okay(response, STATELESS)
      const seen = { body: Buffer.concat(chunks).toString('utf8'), session, authorization, isGone: false }
      got.push(seen)
      response.on('close', () => {
        seen.isGone = !response.writableFinished
      })
      if (seen.body.includes('notifications/')) response.writeHead(202).end()
      else if (seen.body.includes('initialize')) okay(response.setHeader('mcp-session-id', 'a-session'))
      else held.push(response)
    })
  })
  const proxy = await limitedProxy({ rate_limit_config }, { target })
  return { proxy, url: `${proxy.origin}/mcp`, held, got }
}

/** What a server of 2026-07-28 responds when the proxy asks which era it is of. */
const STATELESS = '{"supportedVersions":["2026-07-28"]}'

const okay = (response: ServerResponse | undefined, result = '{}') =>
  response
    ?.writeHead(200, { 'content-type': 'application/json' })
    .end(`{"jsonrpc":"2.0","id":1,"result":${result}}`)

/** Calls until one is let through, and returns what becomes of it. */
async function untilFree(make: () => Promise<Response>): Promise<number> {
  let status = 429
  await expect
    .poll(
      async () => {
        status = (await make()).status
        return status
      },
      { timeout: 30_000 },
    )
    .not.toBe(429)
  return status
}

test.each([JSON_ONLY, STREAM])(
  'a call of a stdio server holds its slot until its response ends (%o)',
  async accept => {
    const { url, puppet, respond } = await stdioProxy({ maxConcurrentCalls: 2 })
    const first = [callAs(url, '', 'a', accept), callAs(url, '', 'b', accept)]
    await expect.poll(() => puppet.received('tools/call')).toHaveLength(2)
    const refused = await callAs(url, '', 'c', accept)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({
      id: 1,
      error: { code: 429, data: { retryAfterSeconds: 1 } },
    })
    expect((await post(url, rpc('ping', 1))).status).toBe(200)
    await respond()
    await respond()
    for (const one of first) expect(await (await one).text()).toContain('"result"')
    const next = callAs(url, '', 'd', accept)
    await respond()
    expect((await next).status).toBe(200)
  },
)

test('a call of the SSE transport holds its slot until its response is on the stream', async () => {
  const { proxy, puppet, respond } = await stdioProxy({ maxConcurrentCalls: 1 }, 'sse')
  const stream = await fetch(`${proxy.origin}/sse`)
  const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) text += (await reader.read()).value
  }
  await until('session_id=')
  const endpoint = /data: (\S+)/.exec(text)?.[1] ?? ''
  await post(endpoint, rpc('initialize', 0, { protocolVersion: '2024-11-05', capabilities: {} }))
  expect((await post(endpoint, call('a', 'one'))).status).toBe(202)
  await expect.poll(() => puppet.received('tools/call')).toHaveLength(1)
  expect((await post(endpoint, call('b', 'two'))).status).toBe(429)
  await respond()
  await until('"id":"one"')
  expect((await post(endpoint, call('c', 'three'))).status).toBe(202)
  await respond()
  await until('"id":"three"')
  await reader.cancel()
})

test('users have slots of their own', async () => {
  const { url, puppet, respond } = await stdioProxy({ maxConcurrentCalls: 3, maxConcurrentCallsPerUser: 1 })
  const ann = callAs(url, 'i ann')
  const bob = callAs(url, 'i bob')
  await expect.poll(() => puppet.received('tools/call')).toHaveLength(2)
  expect((await callAs(url, 'i ann')).status).toBe(429)
  expect((await callAs(url, 'i bob')).status).toBe(429)
  await respond()
  await respond()
  expect([(await ann).status, (await bob).status]).toEqual([200, 200])
})

test('a client that goes away gives its slot back when its call has been cancelled', async () => {
  const { url, puppet } = await stdioProxy({ maxConcurrentCalls: 1 })
  for (let round = 0; round < 3; round++) {
    const gone = new AbortController()
    const headers = { 'content-type': 'application/json', ...JSON_ONLY }
    const made = fetch(url, { method: 'POST', headers, body: call('a'), signal: gone.signal })
    const { message } = await puppet.take('tools/call')
    gone.abort()
    await expect(made).rejects.toThrow()
    const { message: cancelled } = await puppet.take('notifications/cancelled')
    expect(cancelled.params.requestId).toBe(message.id)
  }
})

test('a client that leaves a call that goes on does not get another slot for it', async () => {
  const { url, puppet, respond } = await stdioProxy({ maxConcurrentCalls: 1 })
  const opened = await post(url, rpc('initialize', 1, { protocolVersion: '2025-11-25', capabilities: {} }))
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  const gone = new AbortController()
  const headers = { 'content-type': 'application/json', ...STREAM, ...session }
  await fetch(url, { method: 'POST', headers, body: call('a'), signal: gone.signal })
  await expect.poll(() => puppet.received('tools/call')).toHaveLength(1)
  gone.abort()
  for (let round = 0; round < 20; round++) expect((await callAs(url, '', 'b', session)).status).toBe(429)
  await respond()
  const next = callAs(url, '', 'c', session)
  await respond()
  expect((await next).status).toBe(200)
})

test('the death of a stdio server gives all slots back', async () => {
  const proxy = await limitedProxy({ transport: 'stdio', rate_limit_config: { maxConcurrentCalls: 8 } })
  const url = `${proxy.origin}/mcp`
  for (let round = 0; round < 3; round++) {
    const server = spawnFixture('holds-answers', { HOLD: '9' })
    await proxy.connect({ kind: 'stdio', attachment: server.attachment })
    const made = Array.from({ length: 8 }, () => callAs(url, '', 'a', JSON_ONLY))
    await expect.poll(async () => (await callAs(url, '', 'b', JSON_ONLY)).status).toBe(429)
    await server.kill()
    proxy.disconnect('it was killed')
    // 502 for those that the server had got, 503 for others.
    const statuses = (await Promise.all(made)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 502 && status !== 503)).toEqual([])
  }
})

test('a call of an HTTP server holds its slot until the response, or either side, ends', async () => {
  const { url, held, proxy } = await httpProxy({ maxConcurrentCalls: 1 })
  const first = callAs(url, '')
  await expect.poll(() => held).toHaveLength(1)
  expect((await callAs(url, '')).status).toBe(429)
  okay(held[0])
  expect((await first).status).toBe(200)

  const gone = new AbortController()
  const second = fetch(url, { method: 'POST', body: call('a'), signal: gone.signal })
  await expect.poll(() => held).toHaveLength(2)
  gone.abort()
  await expect(second).rejects.toThrow()

  const third = untilFree(() => callAs(url, ''))
  await expect.poll(() => held).toHaveLength(3)
  held[2]?.destroy()
  expect(await third).toBe(502)
  const fourth = callAs(url, '')
  await expect.poll(() => held).toHaveLength(4)
  proxy.disconnect('it was stopped')
  expect((await fourth).status).toBe(503)
})

test.each([
  [JSON_ONLY, 504],
  [STREAM, 200],
])('a call of a stdio server that takes too long is an error for both sides (%o)', async (accept, status) => {
  const { url, puppet } = await stdioProxy({ callTimeout: '100ms', maxConcurrentCalls: 1 })
  const response = await callAs(url, '', 'a', accept)
  expect(response.status).toBe(status)
  expect(await response.text()).toContain(
    '"error":{"code":-32000,"message":"The server did not respond in time"}',
  )
  const { message } = await puppet.take('tools/call')
  const { message: cancelled } = await puppet.take('notifications/cancelled')
  expect(cancelled.params).toEqual({ requestId: message.id, reason: 'the call took too long' })
  const again = await callAs(url, '', 'a', accept)
  expect(again.status).toBe(status)
})

test('an HTTP server gets the cancellation of a call that took too long, with its id, session and login', async () => {
  const { url, got } = await httpProxy({ callTimeout: '100ms' })
  const text = call('a').replace('"id":1', '"id":12345678901234567890')
  const headers = { 'mcp-session-id': 'a-session', authorization: 'Bearer a', ...JSON_ONLY }
  await post(url, rpc('initialize', 1))
  got.length = 0
  const late = await post(url, text, headers)
  expect(late.status).toBe(504)
  expect(await late.text()).toContain('did not respond in time')
  await expect.poll(() => got).toHaveLength(2)
  expect(got[1]).toMatchObject({ session: 'a-session', authorization: 'Bearer a' })
  expect(got[1]?.body).toBe(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345678901234567890,"reason":"the call took too long"}}',
  )
  await expect.poll(() => got[0]?.isGone).toBe(true)

  // The stream has begun: the error is its last event, although the client could ask for the rest.
  const slow = await httpProxy({ callTimeout: '3s' })
  const streamed = post(slow.url, call('b'), JSON_ONLY)
  await expect.poll(() => slow.held).toHaveLength(1)
  slow.held[0]?.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\ndata: {}\n\n')
  const events = await (await streamed).text()
  expect(events).toMatch(/^id: 1\ndata: \{\}\n[\s\S]*"id":1,"error":\{"code":-32000,[\s\S]*\n\n$/)
})

test('a server of 2026-07-28 learns of a cancellation by the end of the connection', async () => {
  const { url, got } = await httpProxy({ callTimeout: '1s' }) // the proxy also asks for the era meanwhile
  const late = await post(url, call('a'), { 'mcp-protocol-version': '2026-07-28' })
  expect(late.status).toBe(504)
  await expect.poll(() => got[0]?.isGone).toBe(true)
  expect((await post(url, rpc('notifications/other'))).status).toBe(202)
  expect(got.map(({ body }) => JSON.parse(body).method)).toEqual(['tools/call', 'notifications/other'])
})

test('a call that ends in time is left alone', async () => {
  const { url, got, held } = await httpProxy({ callTimeout: '30s' })
  for (const round of [0, 1, 2]) {
    const made = callAs(url, '')
    await expect.poll(() => held).toHaveLength(round + 1)
    okay(held[round])
    expect((await made).status).toBe(200)
  }
  expect(got).toHaveLength(3)
})

test('where nothing says when a call ends, it cannot be limited', async () => {
  for (const limits of [{ maxConcurrentCalls: 1 }, { maxConcurrentCallsPerUser: 1 }, { callTimeout: '1s' }]) {
    await expect(limitedProxy({ transport: 'sse', rate_limit_config: limits })).rejects.toMatchObject({
      code: 'usage',
    })
  }
})
