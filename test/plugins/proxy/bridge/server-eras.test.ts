import { expect, test } from 'vitest'
import { modernHeaders, modernParams } from './modern-client.ts'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc } from './raw-client.ts'
import { spawnFixture, spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const VERSION = '2026-07-28'
const patience = { timeoutMs: 60_000, signal: new AbortController().signal, ping: true }
const era = { name: 'era' }
const callEra = (url: string) =>
  call(url, rpc(1, 'tools/call', modernParams(era)), modernHeaders('tools/call', era))

test.each([
  ['legacy', () => spawnOfficial('everything', 'stdio')],
  ['stateless', () => spawnFixture('modern-only')],
])('the ping at the start tells that a server is %s', async (protocol, spawn) => {
  const { bridge } = await startBridge({ attachment: spawn().attachment })
  expect(bridge.protocol).toBeUndefined()
  await bridge.ready(patience)
  expect(bridge.protocol).toBe(protocol)
})

test('a server of both eras serves a new client that comes first without initialize', async () => {
  const { bridge, url } = await startBridge({ attachment: spawnFixture('both-eras').attachment })
  await bridge.ready(patience)
  const answer = await callEra(url)
  expect(answer.json.result).toMatchObject({ resultType: 'complete', content: [{ text: 'modern' }] })
  // Its process keeps to that era.
  const old = await open(url)
  const translated = await call(url, rpc(1, 'tools/call', { name: 'era' }), old.headers)
  expect(translated.json.result.content[0].text).toBe('modern')
})

test('a server of both eras is known as such once a client has initialised it', async () => {
  const server = spawnFixture('both-eras')
  const { bridge, url } = await startBridge({ attachment: server.attachment })
  await bridge.ready(patience)
  const old = await open(url)
  const answer = await call(url, rpc(1, 'tools/call', { name: 'era' }), old.headers)
  expect(answer.json.result.content[0].text).toBe('legacy')
  expect(bridge.protocol).toBe('both')
  // Its process keeps to the era of the first client.
  expect((await callEra(url)).json.result).toMatchObject({
    resultType: 'complete',
    content: [{ text: 'legacy' }],
  })
})

test('a server that tells the eras apart per request serves both', async () => {
  const server = createPuppet({ tools: [] })
  const { bridge, url } = await startBridge({ attachment: server.attachment })
  await open(url)
  const answer = callEra(url)
  const ping = await server.take('ping')
  server.send({ jsonrpc: '2.0', id: ping.message.id, error: { code: -32022, message: 'no' } })
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: 'new' })
  expect((await answer).json.result).toBe('new')
  expect(bridge.protocol).toBe('both')
})

test('a server that refuses every ping is asked to describe itself for a new client', async () => {
  const server = createPuppet({ initialize: false, tools: [] })
  const { bridge, url } = await startBridge({ attachment: server.attachment })
  const answer = callEra(url)
  const ping = await server.take('ping')
  server.send({ jsonrpc: '2.0', id: ping.message.id, error: { code: -32601, message: 'what?' } })
  const discover = await server.take('server/discover')
  server.send({ jsonrpc: '2.0', id: discover.message.id, result: { supportedVersions: [VERSION] } })
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: 'new' })
  expect((await answer).json.result).toBe('new')
  expect(bridge.protocol).toBe('stateless')
  expect(server.received('initialize')).toEqual([])
})

test('what is known of a server outlives its process', async () => {
  const { bridge, url } = await startBridge({ attachment: spawnFixture('both-eras').attachment })
  await bridge.ready(patience)
  await open(url)
  bridge.disconnect('it starts again')
  expect(bridge.protocol).toBe('both')
})

test('a server that is said to be legacy is not asked', async () => {
  const server = createPuppet()
  const { bridge, url } = await startBridge({ attachment: server.attachment, config: { protocol: 'legacy' } })
  expect(bridge.protocol).toBe('legacy')
  const answer = callEra(url)
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
  expect((await answer).json.result.resultType).toBe('complete')
  expect(server.lines.map(line => line.message.method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
  ])
})

test('a server that is said to be stateless gets no initialize', async () => {
  const server = createPuppet({ tools: [] })
  const { bridge, url } = await startBridge({
    attachment: server.attachment,
    config: { protocol: 'stateless' },
  })
  expect(bridge.protocol).toBe('stateless')
  const opened = open(url)
  const { message } = await server.take('server/discover')
  server.send({ jsonrpc: '2.0', id: message.id, result: { capabilities: {} } })
  expect((await opened).result.serverInfo).toEqual({ name: 'test', version: 'unknown' })
  expect(server.received('initialize')).toEqual([])
  const answer = callEra(url)
  const call = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: call.message.id, result: 'new' })
  expect((await answer).json.result).toBe('new')
})
