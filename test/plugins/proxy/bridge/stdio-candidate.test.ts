import { expect, test } from 'vitest'
import { createPuppet, type Puppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { type Started, startBridge } from './start-bridge.ts'

const patience = { graceMs: 10_000, signal: new AbortController().signal }
const check = ({ bridge }: Started, server: Puppet, { timeoutMs = 10_000, signal = patience.signal } = {}) =>
  bridge.checkCandidate(server.attachment, { timeoutMs, signal })
const tools = { initialize: { capabilities: { tools: {} } } }

/** Answers `tools/list`, as a working server does. */
async function showTools(server: Puppet): Promise<void> {
  const { message } = await server.take('tools/list')
  server.send({ jsonrpc: '2.0', id: message.id, result: { tools: [] } })
}

test('a candidate is initialised as the running server was, lists its tools, and gets the requests after its promotion', async () => {
  const [first, second] = [createPuppet(), createPuppet(tools)]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url, { sampling: {} })
  const checked = check(started, second)
  await showTools(second)
  const candidate = await checked
  const before = call(started.url, rpc(1, 'tools/call'), a.headers)
  const { message } = await first.take('tools/call')

  const taken = candidate.promote(patience)
  const after = call(started.url, rpc(2, 'tools/call'), a.headers)
  const { message: next } = await second.take('tools/call')
  second.send({ jsonrpc: '2.0', id: next.id, result: 'new' })
  expect((await after).json.result).toBe('new')
  first.send({ jsonrpc: '2.0', id: message.id, result: 'old' })
  expect((await before).json.result).toBe('old')
  await taken

  const [was, is] = [first, second].map(server => server.received('initialize')[0]?.message.params)
  expect(is).toEqual(was)
  expect(second.lines.map(line => line.message.method).slice(0, 3)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/list',
  ])
  expect(first.received('tools/list')).toEqual([])
})

test('requests of the old server get their responses, and a cancelled call of it is cancelled there', async () => {
  const [first, second] = [createPuppet(), createPuppet()]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url, { sampling: {} })
  const reader = await stream(started.url, { headers: a.headers })
  const slow = call(started.url, rpc(1, 'tools/call'), a.headers)
  slow.catch(() => undefined)
  const { message } = await first.take('tools/call')
  const taken = (await check(started, second)).promote(patience)

  first.send({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} })
  const asked = await reader.next()
  await call(started.url, { jsonrpc: '2.0', id: asked?.json.id, result: 'said' }, a.headers)
  expect((await first.take(line => line.message.id === 7)).message.result).toBe('said')
  await call(
    started.url,
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    a.headers,
  )
  expect((await first.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
  await taken
  expect(second.received('notifications/cancelled')).toEqual([])
})

test('an old server cannot respond to the requests of the new one', async () => {
  const [first, second] = [createPuppet(), createPuppet()]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url)
  const before = call(started.url, rpc(1, 'tools/call'), a.headers)
  const { message: old } = await first.take('tools/call')
  const taken = (await check(started, second)).promote(patience)
  const after = call(started.url, rpc(2, 'tools/call'), a.headers)
  const { message } = await second.take('tools/call')
  first.send({ jsonrpc: '2.0', id: message.id, result: 'forged' })
  first.send({ jsonrpc: '2.0', id: old.id, result: 'old' })
  expect((await before).json.result).toBe('old')
  second.send({ jsonrpc: '2.0', id: message.id, result: 'new' })
  expect((await after).json.result).toBe('new')
  await taken
})

test('requests that the old server has not responded to in time get an error', async () => {
  const [first, second] = [createPuppet(), createPuppet()]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url)
  const slow = call(started.url, rpc(1, 'tools/call'), a.headers)
  await first.take('tools/call')
  await (await check(started, second)).promote({ ...patience, graceMs: 50 })
  expect(await slow).toMatchObject({ status: 502, json: { id: 1, error: { code: -32000 } } })
  expect(started.bridge.health()).toEqual({ status: 'healthy' })
})

test('subscriptions and the log level are set again', async () => {
  const [first, second] = [createPuppet(), createPuppet()]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url)
  for (const [method, params] of [
    ['resources/subscribe', { uri: 'a://1' }],
    ['logging/setLevel', { level: 'info' }],
  ] as const) {
    const answer = call(started.url, rpc(1, method, params), a.headers)
    first.send({ jsonrpc: '2.0', id: (await first.take(method)).message.id, result: {} })
    await answer
  }
  await (await check(started, second)).promote(patience)
  expect((await second.take('resources/subscribe')).message.params).toEqual({ uri: 'a://1' })
  expect((await second.take('logging/setLevel')).message.params).toEqual({ level: 'info' })
})

test('a server of 2026-07-28, which knows no initialize, is asked to describe itself', async () => {
  const [first, second] = [createPuppet(), createPuppet({ initialize: false })]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url)
  const checked = check(started, second)
  const { message } = await second.take('initialize')
  second.send({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } })
  const discover = await second.take('server/discover')
  second.send({ jsonrpc: '2.0', id: discover.message.id, result: { capabilities: { tools: {} } } })
  await showTools(second)
  await (await checked).promote(patience)
  expect(await call(started.url, rpc(1, 'tools/call'), a.headers)).toMatchObject({ status: 404 })
})

test.each([
  [
    'refuses initialize',
    async (server: Puppet) => {
      const { message } = await server.take('initialize')
      server.send({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'broken' } })
    },
    'returned an error for initialize: broken',
  ],
  [
    'cannot list its tools',
    async (server: Puppet) => {
      const { message } = await server.take('initialize')
      server.send({ jsonrpc: '2.0', id: message.id, result: { capabilities: { tools: {} } } })
      const { message: list } = await server.take('tools/list')
      server.send({ jsonrpc: '2.0', id: list.id, error: { code: -1, message: 'no disk' } })
    },
    'returned an error for tools/list: no disk',
  ],
  [
    'ends',
    async (server: Puppet) => server.die({ code: 4 }),
    'ended before it responded: the server ended with exit code 4',
  ],
  [
    'writes noise',
    async (server: Puppet) => server.raw('Starting...\n{"jsonrpc":"2.0","id":1,"result":{}}\n'),
    'did not respond within 0.3 seconds',
  ],
])('a candidate that %s is refused, and the running server goes on', async (_, misbehave, problem) => {
  const [first, second] = [createPuppet(), createPuppet({ initialize: false })]
  const started = await startBridge({ attachment: first.attachment })
  const a = await open(started.url)
  const checked = check(started, second, { timeoutMs: 300 })
  checked.catch(() => undefined)
  await misbehave(second)
  await expect(checked).rejects.toMatchObject({
    code: 'candidate_failed',
    message: expect.stringContaining(problem),
  })
  const answer = call(started.url, rpc(1, 'tools/call'), a.headers)
  first.send({ jsonrpc: '2.0', id: (await first.take('tools/call')).message.id, result: 'old' })
  expect((await answer).json.result).toBe('old')
})

test('a check whose caller aborts ends at once', async () => {
  const started = await startBridge({ attachment: createPuppet().attachment })
  const over = new AbortController()
  const checked = check(started, createPuppet({ initialize: false }), { signal: over.signal })
  over.abort(new Error('not wanted'))
  await expect(checked).rejects.toThrow('not wanted')
})
