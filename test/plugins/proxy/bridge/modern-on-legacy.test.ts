import { describe, expect, test } from 'vitest'
import { startLegacy } from './modern-client.ts'
import { call, open as openSession, rpc } from './raw-client.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const serverInfo = { name: 'puppet', version: '1' }

describe('a client of 2026-07-28 at a server of 2025-11-25', () => {
  test('discovers what the server said to initialize, without tasks', async () => {
    const { ask, server } = await startLegacy({
      initialize: {
        capabilities: { tools: { listChanged: true }, tasks: {}, 'x-own': { a: 1 } },
        instructions: 'read me',
      },
    })
    const { status, json, headers } = await ask('d', 'server/discover')
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('mcp-session-id')
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 'd',
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true }, 'x-own': { a: 1 } },
        instructions: 'read me',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO]: serverInfo },
      },
    })
    expect(server.received('server/discover')).toEqual([])
    expect(server.received('initialize')).toHaveLength(1)
  })

  test('lists tools; the server gets nothing of the new era, and every other member', async () => {
    const { ask, server } = await startLegacy()
    const meta = { traceparent: '00-1', progressToken: 'p' }
    const listed = ask(7, 'tools/list', { cursor: 'c', 'x-other': 1 }, { meta })
    const { message } = await server.take('tools/list')
    expect(message.params).toEqual({
      cursor: 'c',
      'x-other': 1,
      _meta: { traceparent: '00-1', progressToken: message.id },
    })
    server.raw(
      `{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[{"n":12345678901234567890}],"ttlMs":9,"cacheScope":"public"}}\n`,
    )
    const { text } = await listed
    expect(text).toContain('"tools":[{"n":12345678901234567890}]')
    expect(JSON.parse(text)).toMatchObject({
      id: 7,
      result: {
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO]: serverInfo },
      },
    })
  })

  test('a server cannot pretend that a result is anything but complete', async () => {
    const { ask, answer } = await startLegacy()
    const called = ask(1, 'tools/call', { name: 't', task: { ttl: 1 } })
    const { params } = await answer('tools/call', {
      resultType: 'input_required',
      content: [],
      requestState: 's',
    })
    expect(params).toEqual({ name: 't' })
    expect((await called).json.result).toMatchObject({ resultType: 'complete', content: [] })
  })

  test.each([
    [-32002, -32602],
    [-32022, -32603],
    [-32050, -32603],
    [-32001, -32001],
    [-32602, -32602],
  ])('the error %d of the server is %d for the client', async (code, expected) => {
    const { ask, server } = await startLegacy()
    const read = ask(1, 'resources/read', { uri: 'x:y' })
    const { message } = await server.take('resources/read')
    server.send({ jsonrpc: '2.0', id: message.id, error: { code, message: 'no', data: { uri: 'x:y' } } })
    expect((await read).json.error).toEqual({ code: expected, message: 'no', data: { uri: 'x:y' } })
  })

  test.each([
    ...['ping', 'logging/setLevel', 'resources/subscribe'],
    ...['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'tasks/update'],
  ])('the method %s is gone, and the server is not asked', async method => {
    const { ask, server } = await startLegacy()
    const { status, json } = await ask(1, method, { uri: 'x:y' })
    expect([status, json.error.code]).toEqual([404, -32601])
    expect(server.received(method).filter(({ message }) => message.params.uri)).toEqual([])
  })

  test('a request that does not say who asks is refused, and so is an unknown version', async () => {
    const { url, ask, server } = await startLegacy()
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    const bare = await call(url, rpc(1, 'tools/list'), headers)
    expect([bare.status, bare.json.error.code]).toEqual([400, -32602])
    const later = await ask(1, 'tools/list', {}, { version: '2027-01-01' })
    expect([later.status, later.json.error.code]).toEqual([400, -32022])
    expect(later.json.error.data).toEqual({ supported: ['2026-07-28'], requested: '2027-01-01' })
    expect(server.received('tools/list')).toEqual([])
  })

  test('clients of both eras share the one server', async () => {
    const { ask, answer, url, server } = await startLegacy()
    const old = await openSession(url)
    const listed = ask(1, 'tools/list')
    await answer('tools/list', { tools: [] })
    expect((await listed).json.result.resultType).toBe('complete')
    const legacy = call(url, rpc(1, 'tools/list'), old.headers)
    await answer('tools/list', { tools: [] })
    expect((await legacy).json.result).toEqual({ tools: [] })
    expect(server.received('initialize')).toHaveLength(1)
  })

  test('the server is told of the client that comes first, and that roots may be others with the next one', async () => {
    const { ask, answer, server } = await startLegacy()
    const listed = ask(
      1,
      'tools/list',
      {},
      { capabilities: { roots: {}, elicitation: { url: {} } }, name: 'first' },
    )
    await answer('tools/list', { tools: [] })
    await listed
    const [hello] = server.received('initialize')
    expect(hello?.message.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { roots: { listChanged: true }, elicitation: { url: {} } },
      clientInfo: { name: 'first', version: '1' },
    })
    expect(server.received('notifications/initialized')).toHaveLength(1)
    const next = ask(2, 'tools/list', {}, { capabilities: { roots: {} }, name: 'second' })
    await server.take('notifications/roots/list_changed')
    await answer('tools/list', { tools: [] })
    await next
    expect(server.received('notifications/initialized')).toHaveLength(1)
  })

  test('closing the stream of a call cancels it at the server', async () => {
    const { open, server } = await startLegacy()
    const reader = await open(1, 'tools/call', { name: 't' })
    const { message } = await server.take('tools/call')
    reader.close()
    expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
  })
})

test('a workload with --proxy-mode sse takes requests of 2026-07-28 at the same URL', async () => {
  const { origin, ask, answer, server } = await startLegacy({ mode: 'sse', path: '/sse' })
  const listed = ask(1, 'tools/list')
  await answer('tools/list', { tools: [] })
  expect((await listed).json.result.resultType).toBe('complete')
  expect((await call(`${origin}/messages`, rpc(1, 'tools/list'))).status).toBe(400)
  expect(server.received('tools/list')).toHaveLength(1)
})
