import { describe, expect, test } from 'vitest'
import { limitedProxy } from '../../rate-limit/limit-world.ts'
import { createPuppet, type Puppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

const BOTH = { accept: 'application/json, text/event-stream' }

async function start(options: Parameters<typeof startBridge>[0] = {}, version = '2025-03-26') {
  const server = createPuppet({ initialize: { protocolVersion: version } })
  const started = await startBridge({ attachment: server.attachment, ...options })
  const { headers: all } = await open(started.url, {}, version)
  // Clients of 2025-03-26 know no header for the version.
  const headers = { 'mcp-session-id': all['mcp-session-id'] ?? '' }
  return { server, ...started, headers }
}

const respond = (server: Puppet, id: unknown, result: unknown) => server.send({ jsonrpc: '2.0', id, result })

describe('a batch of a session of 2025-03-26', () => {
  test('gets one JSON array where its client takes only JSON, in the order of the responses', async () => {
    const { server, url, headers } = await start()
    const answer = call(url, [rpc(1, 'tools/list'), rpc('b', 'tools/call'), rpc(3, 'prompts/list')], headers)
    const ids: Record<string, unknown> = {}
    for (const method of ['tools/list', 'tools/call', 'prompts/list'])
      ids[method] = (await server.take(method)).message.id
    server.send({ jsonrpc: '2.0', id: ids['prompts/list'], error: { code: -32601, message: 'no' } })
    respond(server, ids['tools/call'], 'called')
    respond(server, ids['tools/list'], { tools: [] })
    const { status, json, headers: got } = await answer
    expect([status, got['content-type']]).toEqual([200, 'application/json'])
    expect(json).toEqual([
      { jsonrpc: '2.0', id: 3, error: { code: -32601, message: 'no' } },
      { jsonrpc: '2.0', id: 'b', result: 'called' },
      { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    ])
  })

  test('gets errors in one JSON array that would be too long', async () => {
    const { server, url, headers } = await start({ limits: { maxLine: 1000 } })
    const answer = call(url, [rpc(1, 'tools/list'), rpc(2, 'tools/call'), rpc(3, 'prompts/list')], headers)
    for (const method of ['tools/list', 'tools/call', 'prompts/list']) {
      const size = method === 'prompts/list' ? 10 : 700
      respond(server, (await server.take(method)).message.id, 'x'.repeat(size))
    }
    expect((await answer).json).toMatchObject([
      { id: 1, result: 'x'.repeat(700) },
      { id: 2, error: { code: -32000 } },
      { id: 3, result: 'x'.repeat(10) },
    ])
  })

  test('gets an event for each response where its client takes events, with progress, and can be resumed', async () => {
    const { server, url, headers, cut } = await start()
    const body = [rpc(1, 'tools/call', { _meta: { progressToken: 'p' } }), rpc(2, 'tools/list')]
    const reader = await stream(url, { body, headers: { ...headers, ...BOTH } })
    const first = (await server.take('tools/call')).message
    const second = (await server.take('tools/list')).message
    respond(server, second.id, { tools: [] })
    const event = await reader.next()
    expect(event?.json).toEqual({ jsonrpc: '2.0', id: 2, result: { tools: [] } })
    const params = { progressToken: first.id, progress: 1 }
    server.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
    expect((await reader.next())?.json.params.progressToken).toBe('p')
    cut()
    respond(server, first.id, 'late')
    const resumed = await stream(url, { headers: { ...headers, ...BOTH, 'last-event-id': event?.id ?? '' } })
    expect((await resumed.rest()).map(({ json }) => json.result ?? json.method)).toEqual([
      'notifications/progress',
      'late',
    ])
  })

  test('of notifications and responses is 202, and all of it reaches the server', async () => {
    const { server, url, headers } = await start()
    const note = (method: string) => ({ jsonrpc: '2.0', method })
    const batch = [note('notifications/a'), { jsonrpc: '2.0', id: 77, result: {} }, note('notifications/b')]
    const answer = await call(url, batch, headers)
    expect([answer.status, answer.text]).toEqual([202, ''])
    await server.take('notifications/a')
    await server.take('notifications/b')
  })

  test('may hold messages of each kind', async () => {
    const { server, url, headers } = await start()
    const batch = [{ jsonrpc: '2.0', method: 'notifications/a' }, rpc(1, 'tools/list')]
    const answer = call(url, batch, headers)
    await server.take('notifications/a')
    respond(server, (await server.take('tools/list')).message.id, {})
    expect((await answer).json).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('gets an error for a request that the server is too late with', async () => {
    const { server, url, headers } = await start({ limits: { requestTimeoutMs: 300 } })
    const answer = call(url, [rpc(1, 'tools/call'), rpc(2, 'tools/list')], headers)
    respond(server, (await server.take('tools/list')).message.id, 'soon')
    expect((await answer).json).toMatchObject([
      { id: 2, result: 'soon' },
      { id: 1, error: { code: -32000 } },
    ])
  })

  test('is cancelled at the server when its client hangs up', async () => {
    const { server, url, headers, cut } = await start()
    const answer = call(url, [rpc(1, 'tools/call'), rpc(2, 'prompts/get')], headers).catch(() => undefined)
    await server.take('tools/call')
    await server.take('prompts/get')
    cut()
    await answer
    await server.take('notifications/cancelled')
    await server.take('notifications/cancelled')
  })

  test('leaves out a request that its client cancels, on a stream', async () => {
    const { server, url, headers } = await start()
    const reader = await stream(url, {
      body: [rpc(1, 'tools/call'), rpc(2, 'prompts/get')],
      headers: { ...headers, ...BOTH },
    })
    respond(server, (await server.take('tools/call')).message.id, 'one')
    expect((await reader.next())?.json.result).toBe('one')
    await call(url, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }, headers)
    expect(await reader.rest()).toEqual([])
  })

  test('is refused as a whole when not all of it can be taken now', async () => {
    const { server, url, headers } = await start({ limits: { maxPending: 2 } })
    const answer = await call(
      url,
      [1, 2, 3].map(id => rpc(id, 'tools/list')),
      headers,
    )
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(server.received('tools/list')).toEqual([])
  })
})

const many = (count: number) => Array.from({ length: count }, (_, id) => rpc(id, 'tools/list'))
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`

describe('refused with 400 and a JSON-RPC error, before anything reaches the server:', () => {
  test.each<[what: string, body: unknown]>([
    ['an empty batch', []],
    ['more than 100 messages', many(101)],
    ['100,000 messages', many(100_000)],
    ['8 MiB of nothing', `[${'1,'.repeat(4_000_000)}1]`],
    ['a batch in a batch', [many(2)]],
    ['batches nested deeply', deep],
    [
      'a message with batches nested deeply',
      `[{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":${deep}}}]`,
    ],
    ['an element that is no message', [rpc(1, 'tools/list'), 7]],
    ['an id twice', [rpc(1, 'tools/list'), rpc(1, 'tools/list')]],
    [
      'an id twice, once escaped',
      `[${JSON.stringify(rpc('a', 'tools/list'))},{"jsonrpc":"2.0","id":"\\u0061","method":"tools/list"}]`,
    ],
    ['initialize', [rpc(1, 'initialize', { protocolVersion: '2025-03-26', capabilities: {} })]],
    ['a member twice', '[{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1,"a":2}}]'],
    ['a method in capitals', '[{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list"}]'],
    ['half a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    [
      'a message of 2026-07-28',
      [rpc(1, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } })],
    ],
  ])('%s', async (_what, body) => {
    const { server, url, headers } = await start()
    const answer = await call(url, body, headers)
    expect([answer.status, answer.json?.jsonrpc]).toEqual([400, '2.0'])
    expect(answer.json.error.code).toBe(-32600)
    expect(answer.json).not.toHaveProperty('id')
    expect(server.received('tools/list')).toEqual([])
    expect((await call(url, { jsonrpc: '2.0', method: 'notifications/x' }, headers)).status).toBe(202)
  })

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])('a batch of a session of %s', async version => {
    const { server, url, headers } = await start({}, version)
    const answer = await call(url, [rpc(1, 'tools/list')], headers)
    expect([answer.status, answer.json.error.code]).toEqual([400, -32600])
    expect(server.received('tools/list')).toEqual([])
  })

  test('a batch without a session, over HTTP+SSE, or with the header of 2026-07-28', async () => {
    const { server, url, headers } = await start()
    expect((await call(url, [rpc(1, 'tools/list')])).status).toBe(400)
    const modern = { ...headers, 'mcp-protocol-version': '2026-07-28' }
    expect((await call(url, [rpc(1, 'tools/list')], modern)).status).toBe(400)
    const reader = await stream(url)
    const messages = (await reader.next())?.data ?? ''
    expect((await call(messages, [rpc(1, 'tools/list')])).status).toBe(400)
    reader.close()
    expect(server.received('tools/list')).toEqual([])
  })

  test('a batch of another caller', async () => {
    const server = createPuppet({ initialize: { protocolVersion: '2025-03-26' } })
    const { url } = await startBridge({ attachment: server.attachment, callers: true })
    const params = {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    }
    const begun = await call(url, rpc(0, 'initialize', params), { caller: 'ada' })
    const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
    expect((await call(url, [rpc(1, 'tools/list')], { ...session, caller: 'bob' })).status).toBe(404)
    expect(server.received('tools/list')).toEqual([])
  })
})

test('each call of a batch takes a slot until the last has ended, and the deadline ends all', async () => {
  const server = createPuppet({ initialize: { protocolVersion: '2025-03-26' } })
  const proxy = await limitedProxy({
    transport: 'stdio',
    rate_limit_config: { maxConcurrentCalls: 2, callTimeout: '60s' },
  })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const url = `${proxy.origin}/mcp`
  const { headers: all } = await open(url, {}, '2025-03-26')
  const headers = { 'mcp-session-id': all['mcp-session-id'] ?? '' }
  const calls = (...ids: number[]) => ids.map(id => rpc(id, 'tools/call', { name: 'a' }))
  expect((await call(url, calls(1, 2, 3), headers)).status).toBe(429)
  const answer = call(url, calls(4, 5), headers)
  respond(server, (await server.take('tools/call')).message.id, 'one')
  const second = (await server.take('tools/call')).message
  expect((await call(url, calls(6)[0], headers)).status).toBe(429)
  respond(server, second.id, 'two')
  expect((await answer).json).toHaveLength(2)
  const after = call(url, calls(7)[0], headers)
  respond(server, (await server.take('tools/call')).message.id, 'three')
  expect((await after).status).toBe(200)
})
