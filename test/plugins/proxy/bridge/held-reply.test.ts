import { request } from 'node:http'
import { expect, test } from 'vitest'
import { modernHeaders, modernParams } from './modern-client.ts'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const BOTH = { accept: 'application/json, text/event-stream' }

async function start(options: Parameters<typeof startBridge>[0] = {}) {
  const server = createPuppet()
  return { server, ...(await startBridge({ attachment: server.attachment, ...options })) }
}

test('a long response that comes first is JSON with its length, not an event', async () => {
  const server = spawnFixture('huge-lines')
  const { url } = await startBridge({ attachment: server.attachment, limits: { holdHeadMs: 60_000 } })
  const { headers } = await open(url)
  const bytes = 5_000_000
  const answer = await call(url, rpc(1, 'tools/call', { bytes }), { ...headers, ...BOTH })
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(answer.text)),
  })
  expect(answer.json.result.text).toHaveLength(bytes)
})

test.each([
  ['2025-11-25', rpc(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} }), {}],
  ['2026-07-28', rpc(1, 'server/discover', modernParams()), modernHeaders('server/discover')],
])('the first response of a server is JSON for a client of %s', async (_version, body, headers) => {
  const isModern = body.method === 'server/discover'
  const server = createPuppet(isModern ? { initialize: false } : {})
  const { url } = await startBridge({ attachment: server.attachment, limits: { holdHeadMs: 60_000 } })
  const answer = call(url, body, { ...headers, ...BOTH })
  if (isModern) {
    const refused = await server.take('initialize')
    server.send({ jsonrpc: '2.0', id: refused.message.id, error: { code: -32022, message: 'no' } })
    const { message } = await server.take('server/discover')
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
  }
  expect((await answer).headers['content-type']).toBe('application/json')
  expect((await answer).json).toHaveProperty('result')
})

test('a call whose first message is not the response goes on as an event stream', async () => {
  const { server, url } = await start({ limits: { holdHeadMs: 60_000 } })
  const { headers } = await open(url)
  const opened = stream(url, { body: rpc(1, 'tools/call', { _meta: { progressToken: 'p' } }), headers })
  const { message } = await server.take('tools/call')
  const params = { progressToken: message.id, progress: 1 }
  server.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
  const reader = await opened
  expect(reader.headers['content-type']).toBe('text/event-stream')
  expect((await reader.next())?.json.params.progressToken).toBe('p')
  server.send({ jsonrpc: '2.0', id: message.id, result: 'done' })
  expect((await reader.rest()).map(event => event.json.result)).toEqual(['done'])
})

test('a call that is not answered soon becomes an event stream that can be resumed', async () => {
  const { server, url, cut } = await start({ limits: { holdHeadMs: 1 } })
  const { headers } = await open(url, {}, '2025-11-25')
  const reader = await stream(url, { body: rpc(1, 'tools/call'), headers })
  expect(reader.headers['content-type']).toBe('text/event-stream')
  const first = await reader.nextAny()
  cut()
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: 'kept' })
  const resumed = await stream(url, { headers: { ...headers, 'last-event-id': String(first?.id) } })
  expect((await resumed.rest()).map(event => event.json.result)).toEqual(['kept'])
})

test('a client that takes only events gets them at once', async () => {
  const { server, url } = await start({ limits: { holdHeadMs: 60_000 } })
  const { headers } = await open(url)
  const accept = { ...headers, accept: 'text/event-stream' }
  const reader = await stream(url, { body: rpc(1, 'tools/call'), headers: accept })
  expect(reader.headers['content-type']).toBe('text/event-stream')
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: 'event' })
  expect((await reader.next())?.json.result).toBe('event')
})

test('a failure of the server is an event with its error', async () => {
  const { server, url } = await start({ limits: { holdHeadMs: 60_000 } })
  const { headers } = await open(url)
  const opened = stream(url, { body: rpc('x', 'tools/call'), headers })
  await server.take('tools/call')
  server.die()
  const reader = await opened
  expect(reader.status).toBe(200)
  expect((await reader.rest()).map(event => event.json)).toMatchObject([{ id: 'x', error: { code: -32000 } }])
})

test('too many waiting requests are still refused with 503', async () => {
  const { server, url } = await start({ limits: { holdHeadMs: 60_000, maxPending: 1 } })
  const { headers } = await open(url)
  const first = call(url, rpc(1, 'tools/call'), { ...headers, ...BOTH })
  const { message } = await server.take('tools/call')
  expect((await call(url, rpc(2, 'tools/call'), { ...headers, ...BOTH })).status).toBe(503)
  server.send({ jsonrpc: '2.0', id: message.id, result: 'ok' })
  expect((await first).json.result).toBe('ok')
})

test('a connection that breaks before the head leaves a call of a session the time to resume', async () => {
  let time = 0
  const { server, url } = await start({ limits: { holdHeadMs: 60_000 }, ttlMs: 1e9, now: () => time })
  const { headers } = await open(url)
  const hangUp = async (own: Record<string, string>) => {
    const outgoing = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...BOTH, ...own },
    })
    outgoing.on('error', () => {})
    outgoing.end(JSON.stringify(rpc(1, 'tools/call')))
    const { message } = await server.take('tools/call')
    outgoing.destroy()
    return message.id
  }
  const kept = await hangUp(headers)
  const cancelled = await hangUp({})
  const next = async () => (await server.take('notifications/cancelled')).message.params.requestId
  expect(await next()).toBe(cancelled)
  // The first sweep after it sees that the client has gone; the grace is over at one that comes later.
  await expect
    .poll(async () => {
      time += 20_000
      return server.received('notifications/cancelled').map(line => line.message.params.requestId)
    })
    .toEqual([cancelled, kept])
})
