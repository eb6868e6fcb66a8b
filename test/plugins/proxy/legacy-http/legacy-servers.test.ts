import type { IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ModernFacts, modernParams } from '../bridge/modern-client.ts'
import { call, rpc, stream } from '../bridge/raw-client.ts'
import { testProxy, testServer } from '../test-proxy.ts'
import { startLegacyServer } from './legacy-server.ts'

const elicits: ModernFacts = { capabilities: { elicitation: {} } }

async function start(options: Parameters<typeof startLegacyServer>[0] = {}, config = {}) {
  const server = await startLegacyServer(options)
  const proxy = await testProxy({ target: server.origin, config })
  const ask = (
    id: unknown,
    method: string,
    params: Record<string, unknown> = {},
    { headers = {}, ...facts }: ModernFacts & { headers?: Record<string, string> } = {},
  ) =>
    call(`${proxy.origin}/mcp`, rpc(id, method, modernParams(params, facts)), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
      ...headers,
    })
  const open = (id: unknown, method: string, params: Record<string, unknown>, facts: ModernFacts) =>
    stream(`${proxy.origin}/mcp`, {
      body: rpc(id, method, modernParams(params, facts)),
      headers: {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(params.name),
      },
    })
  return { server, proxy, ask, open }
}

test('an older server gets requests of its own revision in one session, and is asked for its era once', async () => {
  const { ask, server } = await start()
  const listed = await ask('a', 'tools/list')
  expect(listed.json).toMatchObject({
    id: 'a',
    result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private' },
  })
  expect(listed.headers).not.toHaveProperty('mcp-session-id')
  await ask('b', 'tools/call', { name: 'plain', arguments: { n: 1 } })
  expect(server.received('server/discover')).toHaveLength(1)
  expect(server.received('initialize')).toHaveLength(1)
  const [{ headers, message } = { headers: {}, message: undefined }] = server.received('tools/call')
  expect(headers).toMatchObject({
    'mcp-protocol-version': '2025-06-18',
    'mcp-session-id': [...server.sessions][0],
  })
  expect(headers).not.toHaveProperty('mcp-method')
  expect(headers).not.toHaveProperty('mcp-name')
  expect(message.params).toEqual({ name: 'plain', arguments: { n: 1 } })
})

test('callers with different credentials have different sessions at the server', async () => {
  const { ask } = await start()
  const sessionOf = async (authorization: string) => {
    const { json } = await ask(
      1,
      'tools/list',
      {},
      { headers: { authorization, 'x-request-id': String(Math.random()) } },
    )
    return json.result.tools[0].name
  }
  const [ann, bob, again] = [
    await sessionOf('Bearer ann'),
    await sessionOf('Bearer bob'),
    await sessionOf('Bearer ann'),
  ]
  expect(bob).not.toBe(ann)
  expect(again).toBe(ann)
})

test('a call in which the server asks is a round, also with a body that names the era only', async () => {
  const { ask, server } = await start()
  const first = (await ask(1, 'tools/call', { name: 'ask' }, elicits)).json.result
  expect(first.resultType).toBe('input_required')
  const [key = ''] = Object.keys(first.inputRequests)
  const inputResponses = { [key]: { action: 'accept', content: { n: 1 } } }
  const params = { name: 'ask', inputResponses, requestState: first.requestState }
  // A caller with other credentials cannot continue it.
  const stolen = await ask(2, 'tools/call', params, { ...elicits, headers: { authorization: 'Bearer eve' } })
  expect(stolen.json.error.code).toBe(-32602)
  const second = await ask(3, 'tools/call', params, elicits)
  expect(second.json.result.content[0].text).toBe(JSON.stringify(inputResponses[key]))
  expect(server.received('tools/call')).toHaveLength(1)
})

test('of several calls at once, each is asked what the server asks in it, and gets its log messages', async () => {
  const { open, server } = await start()
  const facts = { ...elicits, meta: { 'io.modelcontextprotocol/logLevel': 'debug' } }
  const asks = (n: number, last: boolean) =>
    open(n, 'tools/call', { name: 'ask', arguments: { n, last } }, facts)
  const first = await asks(1, true)
  await expect.poll(() => server.received('tools/call')).toHaveLength(1)
  const second = await asks(2, false)
  for (const [n, reader] of [first, second].entries()) {
    const [log, response] = await reader.rest()
    expect(log?.json.params).toEqual({ level: 'info', data: n + 1 })
    const [input] = Object.values(response?.json.result.inputRequests)
    expect(input).toMatchObject({ params: { message: `Who? ${n + 1}` } })
    expect(JSON.stringify(input)).not.toContain('keelson')
  }
})

test('a session that the server has lost is opened again, and the call is made once', async () => {
  const { ask, server } = await start()
  await ask(1, 'tools/list')
  server.sessions.clear()
  const { json } = await ask(2, 'tools/call', { name: 'plain' })
  expect(json.result.content[0].text).toBe([...server.sessions][0])
  expect(server.received('initialize')).toHaveLength(2)
})

test('a server that wants a login is passed on with its challenge, and serves those who have one', async () => {
  const { ask } = await start({ token: 'good' })
  const refused = await ask(1, 'tools/list')
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([
    401,
    'Bearer resource_metadata="https://a.example/meta"',
  ])
  const headers = { authorization: 'Bearer good' }
  expect((await ask(2, 'tools/list', {}, { headers })).json.result.resultType).toBe('complete')
  const after = await ask(3, 'tools/list', {}, { headers: { authorization: 'Bearer bad' } })
  expect([after.status, after.headers['www-authenticate']]).toEqual([
    401,
    'Bearer resource_metadata="https://a.example/meta"',
  ])
})

test('a login that ends in a session is an error for one call, then a challenge', async () => {
  let isOver = false
  const challenge = 'Bearer error="invalid_token"'
  const { ask } = await start({
    respond(_seen, response) {
      if (isOver) response.writeHead(401, { 'www-authenticate': challenge }).end('log in again')
      return isOver
    },
  })
  await ask(1, 'tools/list')
  isOver = true
  expect((await ask(2, 'tools/call', { name: 'plain' })).json.error.message).toContain('status 401')
  const next = await ask(3, 'tools/call', { name: 'plain' })
  expect([next.status, next.headers['www-authenticate'], next.text]).toEqual([401, challenge, 'log in again'])
  isOver = false
  expect((await ask(4, 'tools/list')).json.result.resultType).toBe('complete')
})

test('a legacy server that names its revisions when it refuses 2026-07-28 gets requests of its own revision', async () => {
  const { seen, origin } = await startLegacyServer({
    respond({ message: { id, method } }, response) {
      if (method !== 'server/discover') return false
      const data = { supported: ['2025-11-25', '2025-06-18'], requested: '2026-07-28' }
      const error = { code: -32022, message: 'Unsupported protocol version', data }
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      return true
    },
  })
  const proxy = await testProxy({ target: origin })
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  for (let n = 0; n < 2; n++) {
    const listed = await call(`${proxy.origin}/mcp`, rpc(n, 'tools/list', modernParams()), headers)
    expect(listed.json.result.tools).toHaveLength(1)
  }
  expect(seen.filter(({ message }) => message.method === 'server/discover')).toHaveLength(1)
  expect(proxy.protocol).toBe('legacy')
})

test('a server of 2026-07-28 gets requests and gives responses as they are', async () => {
  const { ask, server } = await start({
    respond({ message }, response) {
      const result =
        message.method === 'server/discover' ? { supportedVersions: ['2026-07-28'] } : { own: 1.0 }
      response.writeHead(200, { 'content-type': 'application/json', 'x-own': 'yes' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
      return true
    },
  })
  for (const id of [1, 2]) {
    const { json, headers } = await ask(id, 'tools/call', { name: 'x' })
    expect(json.result).toEqual({ own: 1 })
    expect(headers['x-own']).toBe('yes')
  }
  const [sent] = server.received('tools/call')
  expect(sent?.message.params).toEqual(modernParams({ name: 'x' }))
  expect(sent?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'x' })
  expect(server.received('server/discover')).toHaveLength(1)
})

test('a server that goes away in a call is an error, and the next call opens a session at the next server', async () => {
  const { ask, server, proxy } = await start()
  const { json } = await ask(1, 'tools/call', { name: 'ask' }, elicits)
  server.close()
  const [key = ''] = Object.keys(json.result.inputRequests)
  const { requestState } = json.result
  const params = { name: 'ask', inputResponses: { [key]: { action: 'decline' } }, requestState }
  await expect
    .poll(async () => (await ask(2, 'tools/call', params, elicits)).json.error.message)
    .toContain('used already')
  const next = await startLegacyServer()
  proxy.disconnect('it is replaced')
  await proxy.connect({ kind: 'http', target: new URL(next.origin), remote: false })
  expect((await ask(3, 'tools/list', {}, elicits)).json.result.resultType).toBe('complete')
  expect(next.received('tools/call')).toEqual([])
})

test('a request that does not say who asks is refused by the proxy, with its id', async () => {
  const { proxy, server } = await start()
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  const bare = await call(`${proxy.origin}/mcp`, rpc(7, 'tools/list'), headers)
  expect([bare.status, bare.json.id, bare.json.error.code]).toEqual([400, 7, -32602])
  expect(server.received('tools/list')).toEqual([])
})

test('callers with different keys in the query have different sessions at the server', async () => {
  const { proxy } = await start()
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  const sessionOf = async (path: string) =>
    (await call(`${proxy.origin}${path}`, rpc(1, 'tools/list', modernParams()), headers)).json.result.tools[0]
      .name
  for (const path of ['/mcp', '/sse']) {
    const ann = await sessionOf(`${path}?api_key=ann`)
    expect(await sessionOf(`${path}?api_key=bob`)).not.toBe(ann)
    expect(await sessionOf(path)).not.toBe(ann)
    expect(await sessionOf(`${path}?api_key=ann`)).toBe(ann)
  }
})

test('a server of HTTP+SSE that ends its stream before it is sent anything is an error for the call', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  onTestFinished(() => void process.off('unhandledRejection', unhandled))
  const target = await testServer((request, response) => {
    request.resume()
    if (request.method !== 'GET') return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
  })
  // The limit is beyond that of the test: nothing waits for it.
  const { origin } = await testProxy({ target, config: { transport: 'sse' }, headersTimeoutMs: 600_000 })
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
  const refused = await call(`${origin}/sse`, rpc(1, 'tools/list', modernParams()), headers)
  expect(refused).toMatchObject({ status: 503, json: { id: 1, error: { code: -32000 } } })
  expect(refused.json.error.message).toContain('its stream ended')
  await new Promise(resolve => setTimeout(resolve))
  expect(unhandled).not.toHaveBeenCalled()
})

test('users whom a proxy in front names have different sessions at the server', async () => {
  const { ask } = await start()
  const sessionOf = async (headers: Record<string, string>) =>
    (await ask(1, 'tools/list', {}, { headers })).json.result.tools[0].name
  const ann = await sessionOf({ 'x-forwarded-user': 'ann', 'x-forwarded-port': '1' })
  expect(await sessionOf({ 'x-forwarded-user': 'bob', 'x-forwarded-port': '1' })).not.toBe(ann)
  expect(await sessionOf({ 'x-forwarded-user': 'ann', 'x-forwarded-port': '2' })).toBe(ann)
})

describe('what the server speaks is not decided for all by', () => {
  const isOdd = ({ url, headers }: IncomingMessage) => url !== '/mcp' || headers['x-odd'] !== undefined

  async function modernServer() {
    const origin = await testServer((request, response) => {
      request.resume()
      const error = { code: -32001, message: 'bad key' }
      if (request.headers['x-odd'] === 'key')
        return void response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
      if (isOdd(request)) return void response.writeHead(404).end('not found')
      const isModern = request.headers['mcp-method'] !== undefined
      const result = { supportedVersions: ['2026-07-28'], resultType: 'complete', tools: [] }
      const body = isModern ? { result } : { error: { code: -32022, message: 'no sessions' } }
      response.writeHead(isModern ? 200 : 400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }))
    })
    return testProxy({ target: origin })
  }

  test.each([
    ['the path of one client', '/elsewhere', {}],
    ['a header of one client', '/mcp', { 'x-odd': '1' }],
    ['a key of one client that the server refuses in JSON-RPC', '/mcp', { 'x-odd': 'key' }],
  ])('%s', async (_what, path, odd) => {
    const { origin } = await modernServer()
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    const initialize = rpc(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    await call(`${origin}${path}`, initialize, odd)
    await call(`${origin}${path}`, rpc(1, 'tools/list', modernParams()), { ...modern, ...odd })
    const listed = await call(`${origin}/mcp`, rpc(1, 'tools/list', modernParams()), modern)
    expect(listed).toMatchObject({ status: 200, json: { result: { tools: [] } } })
    expect(await call(`${origin}/mcp`, initialize)).toMatchObject({
      status: 200,
      json: { result: { protocolVersion: '2025-11-25' } },
    })
  })
})

test('one caller with many clients ends the sessions of those, and of no other caller', async () => {
  const { ask, server } = await start({}, { trust_proxy_headers: true })
  const from = (address: string, name: string) =>
    ask(1, 'tools/list', {}, { name, headers: { 'x-forwarded-for': address } })
  const sessionOf = async (address: string, name: string) =>
    (await from(address, name)).json.result.tools[0].name as string
  const other = await sessionOf('192.0.2.1', 'other')
  for (let n = 0; n < 520; n += 20)
    await Promise.all(Array.from({ length: 20 }, (_, i) => from('192.0.2.2', `many ${n + i}`)))
  const ended = () => server.seen.filter(({ method }) => method === 'DELETE')
  await expect.poll(() => ended().length, { timeout: 30_000 }).toBeGreaterThan(0)
  expect(ended().map(({ headers }) => headers['mcp-session-id'])).not.toContain(other)
  expect(await sessionOf('192.0.2.1', 'other')).toBe(other)
})
