import { expect, onTestFinished, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

/** A bridge with a server that has just been connected, and what waits until it responds. */
async function waiting({ ping = true, timeoutMs = 60_000 } = {}) {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment })
  const end = new AbortController()
  onTestFinished(() => end.abort())
  const ready = started.bridge.ready({ timeoutMs, signal: end.signal, ping })
  ready.catch(() => undefined)
  return { ...started, server, ready, end }
}

test.each([
  ['a result', { result: {} }],
  ['an error', { error: { code: -32601, message: 'no such method' } }],
])('a server that responds to the ping with %s is ready', async (_, outcome) => {
  const { server, ready } = await waiting()
  const { message } = await server.take('ping')
  server.raw('a banner\n')
  server.send({ jsonrpc: '2.0', id: message.id, ...outcome })
  await ready
  expect(server.lines).toHaveLength(1)
})

test('an error without an id is a response too', async () => {
  const { server, ready } = await waiting()
  await server.take('ping')
  server.send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'what?' } })
  await ready
})

test('a notification or noise is not a response', async () => {
  const { server, ready } = await waiting({ timeoutMs: 300 })
  server.raw('Listening on stdio\n')
  server.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'up' } })
  await expect(ready).rejects.toThrow('has not responded within 0.3 seconds')
})

test('a silent server gets a second ping and never a cancellation', async () => {
  const { server, ready, end } = await waiting()
  await server.take('ping')
  await server.take('ping')
  end.abort()
  await expect(ready).rejects.toThrow()
  expect(server.lines.map(line => line.message.method)).toEqual(['ping', 'ping'])
})

test('a client that connects meanwhile is not held up, and never sees the response to the ping', async () => {
  const { server, ready, url } = await waiting()
  const { message } = await server.take('ping')
  const client = await open(url)
  const answer = call(url, rpc(message.id, 'tools/list'), client.headers)
  const listed = await server.take('tools/list')
  expect(listed.message.id).not.toBe(message.id)
  server.send({ jsonrpc: '2.0', id: message.id, result: { from: 'ping' } })
  server.send({ jsonrpc: '2.0', id: listed.message.id, result: { tools: [] } })
  expect((await answer).json).toEqual({ jsonrpc: '2.0', id: message.id, result: { tools: [] } })
  await ready
})

test('the response to a client counts, and then no ping is sent', async () => {
  const server = createPuppet()
  const { bridge, url } = await startBridge({ waitMs: 20_000 })
  const client = open(url) // waits for the server
  await bridge.connect(server.attachment)
  await server.take('initialize')
  await bridge.ready({ timeoutMs: 60_000, signal: new AbortController().signal, ping: true })
  await client
  expect(server.received('ping')).toEqual([])
})

test('a restarted server that was initialised before is initialised and not pinged', async () => {
  const { server, bridge, url } = await waiting({ ping: false })
  await open(url)
  server.die()
  const next = createPuppet()
  await bridge.connect(next.attachment)
  await bridge.ready({ timeoutMs: 60_000, signal: new AbortController().signal, ping: true })
  expect(next.received('ping')).toEqual([])
  expect(next.received('initialize')).toHaveLength(1)
})
