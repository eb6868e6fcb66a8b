import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import type { OpenProxy } from '../../../plugins/proxy/open-proxy.ts'
import { post, rpc, testProxy, testServer, until } from './test-proxy.ts'

const signal = new AbortController().signal
const patience = { graceMs: 10_000, signal }
const check = (proxy: OpenProxy, target: string, timeoutMs = 10_000) =>
  proxy.checkCandidate({ kind: 'http', target: new URL(target), remote: false }, { timeoutMs, signal })

/** A server with sessions, each call of which waits until the test lets it go. */
function gatedServer(name: string) {
  const sessions = new Set<string>()
  const held: (() => void)[] = []
  let streams = 0
  const listener: RequestListener = async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const session = String(request.headers['mcp-session-id'])
    if (request.method === 'GET') {
      streams++
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      return
    }
    const { id, method } = text ? JSON.parse(text) : { id: undefined, method: 'DELETE' }
    const answer = (result: unknown, headers = {}) =>
      response
        .writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json', ...headers })
        .end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      const made = randomUUID()
      sessions.add(made)
      return answer({ capabilities: { tools: {} } }, { 'mcp-session-id': made })
    }
    if (!sessions.has(session)) return response.writeHead(404).end()
    if (method === 'tools/call') await new Promise<void>(resolve => held.push(resolve))
    answer({ name, tools: [] })
  }
  return { listener, sessions, held, streams: () => streams }
}

async function initialize(origin: string): Promise<Record<string, string>> {
  const answer = await post(`${origin}/mcp`, rpc('initialize', 0, { protocolVersion: '2025-11-25' }))
  return { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' }
}
const nameIn = async (answer: Response) => ((await answer.json()) as { result: { name: string } }).result.name

test('calls in flight end at the old server, later ones go to the candidate, in the same session', async () => {
  const [first, second] = [gatedServer('first'), gatedServer('second')]
  const proxy = await testProxy({ target: await testServer(first.listener) })
  const url = `${proxy.origin}/mcp`
  const headers = await initialize(proxy.origin)
  const slow = post(url, rpc('tools/call', 1), headers)
  const stream = await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } })
  await until(() => first.held.length === 1)

  const candidate = await check(proxy, await testServer(second.listener))
  let isOver = false
  const taken = candidate.promote(patience).then(() => {
    isOver = true
  })
  expect(await nameIn(await post(url, rpc('tools/list', 2), headers))).toBe('second')
  expect(isOver).toBe(false)
  first.held[0]?.()
  expect(await nameIn(await slow)).toBe('first')
  await taken
  expect(await stream.text()).toBe('') // clients listen again, with the candidate
  expect(await nameIn(await post(url, rpc('tools/list', 3), headers))).toBe('second')
  expect(second.sessions.size).toBe(2) // the check's, and the client's
})

test('the session of the check is closed where the server closes sessions', async () => {
  const closed: string[] = []
  const server = gatedServer('one')
  const target = await testServer((request, response) => {
    if (request.method !== 'DELETE') return server.listener(request, response)
    closed.push(String(request.headers['mcp-session-id']))
    response.end()
  })
  await check(await testProxy(), target)
  expect(closed).toEqual([...server.sessions])
})

test('what takes longer than the grace is broken off', async () => {
  const first = gatedServer('first')
  const proxy = await testProxy({ target: await testServer(first.listener) })
  const headers = await initialize(proxy.origin)
  const slow = post(`${proxy.origin}/mcp`, rpc('tools/call', 1), headers)
  await until(() => first.held.length === 1)
  const candidate = await check(proxy, await testServer(gatedServer('second').listener))
  await candidate.promote({ ...patience, graceMs: 50 })
  expect((await slow).status).toBe(503)
})

const json =
  (value: object): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

test.each([
  [
    'answers with an error',
    json({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'no database' } }),
    'returned an error for initialize: no database',
  ],
  [
    'speaks no MCP',
    json({ hello: 'world' }),
    'did not respond within 0.5 seconds: initialize returned status 200',
  ],
  ['never answers', () => undefined, 'did not respond within 0.5 seconds'],
  [
    'breaks off',
    (_request, response) => void response.destroy(),
    'did not respond within 0.5 seconds: it broke off the connection',
  ],
] as [string, RequestListener, string][])(
  'a server that %s is not a candidate',
  async (_, listener, problem) => {
    const proxy = await testProxy({ target: await testServer(gatedServer('first').listener) })
    await expect(check(proxy, await testServer(listener), 500)).rejects.toMatchObject({
      code: 'candidate_failed',
      message: expect.stringContaining(problem),
    })
    const headers = await initialize(proxy.origin)
    expect(await nameIn(await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), headers))).toBe('first')
  },
)

test('a server that requires credentials passes the check', async () => {
  const proxy = await testProxy()
  const target = await testServer((_, response) => void response.writeHead(401).end())
  await expect(check(proxy, target)).resolves.toBeDefined()
})

test('a stateless server of 2026-07-28 is asked to describe itself, and for its tools', async () => {
  const asked: unknown[] = []
  const target = await testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = JSON.parse(text)
    asked.push([request.headers['mcp-protocol-version'], request.headers['mcp-method'], method])
    const result = { capabilities: { tools: {} }, tools: [] }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      `: hello\n\nevent: message\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`,
    )
  })
  await check(await testProxy({ config: { stateless: true } }), target)
  expect(asked).toEqual([
    ['2026-07-28', 'server/discover', 'server/discover'],
    ['2026-07-28', 'tools/list', 'tools/list'],
  ])
})

test('a candidate that starts to listen late is waited for', async () => {
  const proxy = await testProxy()
  let tries = 0
  const server = gatedServer('late')
  const target = await testServer((request, response) => {
    if (++tries < 4) return void response.destroy()
    server.listener(request, response)
  })
  await expect(check(proxy, target)).resolves.toBeDefined()
})

/** A server of the old SSE transport: answers come on the stream whose endpoint was posted to. */
function sseServer(name: string): RequestListener {
  const streams = new Map<string, import('node:http').ServerResponse>()
  return async (request, response) => {
    const url = new URL(request.url ?? '', 'http://server')
    if (request.method === 'GET') {
      const session = randomUUID()
      streams.set(session, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: endpoint\ndata: /messages?sessionId=${session}\n\n`)
      return
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const stream = streams.get(url.searchParams.get('sessionId') ?? '')
    response.writeHead(stream ? 202 : 404).end()
    const { id, method } = JSON.parse(text)
    if (id === undefined) return
    const result = method === 'initialize' ? { capabilities: { tools: {} } } : { name, tools: [] }
    stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
  }
}

test('clients of an SSE server stay with it while their stream lasts, others go to the candidate', async () => {
  const config = { transport: 'sse' as const }
  const proxy = await testProxy({ target: await testServer(sseServer('first')), config })
  const listen = async () => {
    const response = await fetch(`${proxy.origin}/sse`)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    const read = async (part: RegExp): Promise<string> => {
      for (;;) {
        const found = part.exec(seen)?.[1]
        if (found) return found
        const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
        if (done) throw new Error('the stream ended')
        seen += value
      }
    }
    return { endpoint: await read(/data: (\S+)\n/), read, cancel: () => reader?.cancel() }
  }
  const old = await listen()
  const candidate = await check(proxy, await testServer(sseServer('second')))
  const taken = candidate.promote(patience)
  const fresh = await listen()
  for (const [client, name] of [
    [old, 'first'],
    [fresh, 'second'],
  ] as const) {
    expect((await post(proxy.origin + client.endpoint, rpc('tools/list', 5))).status).toBe(202)
    expect(await client.read(/"name":"(\w+)"/)).toBe(name)
  }
  await old.cancel()
  await taken
  await fresh.cancel()
})
