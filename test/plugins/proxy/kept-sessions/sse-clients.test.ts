import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { MiddlewareFactory } from '../../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'
import { call, type EventReader, rpc, stream } from '../bridge/raw-client.ts'
import { type Seen, startLegacyServer } from '../legacy-http/legacy-server.ts'
import { testProxy } from '../test-proxy.ts'

type Headers = Record<string, string>
type Respond = (seen: Seen, response: ServerResponse) => boolean

const EVENTS = { accept: 'text/event-stream' }

/** A server of streamable HTTP with sessions, and clients that speak only HTTP+SSE. */
async function start(
  options: {
    token?: string
    respond?: Respond
    config?: Partial<RunConfig>
    middlewares?: readonly MiddlewareFactory[]
    headersTimeoutMs?: number
  } = {},
) {
  const server = await startLegacyServer(options)
  const proxy = await testProxy({ target: server.origin, ...options })
  /** Opens an event stream, without an `initialize`. */
  async function connect(headers: Headers = {}, path = '/mcp') {
    const reader = await stream(`${proxy.origin}${path}`, { headers: { ...EVENTS, ...headers } })
    const endpoint = (await reader.next())?.data ?? ''
    return { reader, endpoint, send: (body: unknown, own = headers) => call(endpoint, body, own) }
  }
  async function open(capabilities: object = {}, headers: Headers = {}, path = '/mcp') {
    const client = await connect(headers, path)
    const clientInfo = { name: 'sse', version: '1' }
    await client.send(rpc('init', 'initialize', { protocolVersion: '2024-11-05', capabilities, clientInfo }))
    const { result } = (await client.reader.next())?.json ?? {}
    await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const use = (id: string, name = 'plain', args = {}) =>
      client.send(rpc(id, 'tools/call', { name, arguments: args }))
    return { ...client, result, use }
  }
  return { server, proxy, connect, open }
}

/** What a tool returned, for a request with this id. */
async function textOf(reader: EventReader, id: string): Promise<string | undefined> {
  for (let event = await reader.next(); event; event = await reader.next())
    if (event.json?.id === id && !event.json.method)
      return event.json.result?.content[0].text ?? event.json.error.message
  return undefined
}

const isGet = ({ method }: Seen) => method === 'GET'
const isDelete = ({ method }: Seen) => method === 'DELETE'

test('the session that shows the era of the server is ended at once', async () => {
  const { server, open } = await start()
  const { reader } = await open()
  await expect.poll(() => server.seen.filter(isDelete).length, { timeout: 30_000 }).toBe(1)
  const [probe, own] = server.received('initialize')
  expect([probe?.message.id, own?.message.params.clientInfo.name]).toEqual(['keelson-init-check', 'sse'])
  const [probed] = server.sessions
  expect(server.seen.find(isDelete)?.headers['mcp-session-id']).toBe(probed)
  reader.close()
})

describe('which GETs open a session of HTTP+SSE', () => {
  test('one that the server refuses, at /mcp and at /sse, which is one session at the server', async () => {
    const { server, proxy, open } = await start()
    for (const path of ['/mcp', '/sse']) {
      server.seen.length = 0
      const { reader, result, use } = await open({}, {}, path)
      expect(result).toMatchObject({ serverInfo: { name: 'legacy' } })
      await use('a')
      const session = await textOf(reader, 'a')
      expect(server.sessions).toContain(session)
      const [sent] = server.received('tools/call')
      expect(sent?.headers).toMatchObject({ 'mcp-session-id': session })
      expect(sent?.url).toBe('/mcp')
      expect(sent?.message.params).toEqual({ name: 'plain', arguments: {} })
      reader.close()
    }
    expect(server.received('initialize')).toHaveLength(1)
    expect(server.received('server/discover')).toEqual([])
    expect(proxy.protocol).toBe('legacy')
  })

  test('not one to which the server responds with a stream of its own', async () => {
    const { server, proxy } = await start({
      respond(seen, response) {
        if (!isGet(seen)) return false
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"own":1}\n\n')
        return true
      },
    })
    const reader = await stream(`${proxy.origin}/mcp`, { headers: EVENTS })
    expect((await reader.next())?.data).toBe('{"own":1}')
    expect(server.seen).toHaveLength(1)
    reader.close()
  })

  for (const [who, headers] of [
    ['of streamable HTTP, which names its version', { ...EVENTS, 'mcp-protocol-version': '2025-06-18' }],
    ['that does not ask for events', { accept: '*/*' }],
  ] as const) {
    test(`not one of a client ${who}`, async () => {
      const { proxy } = await start()
      expect((await call(`${proxy.origin}/mcp`, undefined, headers, 'GET')).status).toBe(405)
    })
  }

  test('not one at a server that is no server of MCP', async () => {
    const { proxy } = await start({
      respond: (_, response) => Boolean(response.writeHead(404).end('a page')),
    })
    const refused = await call(`${proxy.origin}/mcp`, undefined, EVENTS, 'GET')
    expect(refused).toMatchObject({ status: 404, text: 'a page' })
  })

  test('not one that the server refuses for its login, whose challenge the client gets', async () => {
    const { proxy, open } = await start({ token: 'good' })
    const refused = await call(`${proxy.origin}/mcp`, undefined, EVENTS, 'GET')
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toContain('https://a.example/meta')
    const { reader, use } = await open({}, { authorization: 'Bearer good' })
    await use('a')
    expect(await textOf(reader, 'a')).toMatch(/^[0-9a-f-]{36}$/)
    reader.close()
  })

  test('not one before a server that is said to keep no sessions', async () => {
    const { proxy, server } = await start({ config: { stateless: true } })
    expect((await call(`${proxy.origin}/mcp`, undefined, EVENTS, 'GET')).status).toBe(405)
    expect(server.seen).toEqual([])
  })
})

describe('callers', () => {
  const login: MiddlewareFactory = async () => ({
    name: 'login',
    stage: 'authenticate',
    wrap: next => exchange => {
      exchange.caller = { subject: String(exchange.request.headers['x-user']), issuer: 'a', claims: {} }
      return next(exchange)
    },
  })

  for (const [how, middlewares, own, other] of [
    ['login', [login], { 'x-user': 'ada' }, { 'x-user': 'eve' }],
    ['credentials', [], { authorization: 'Bearer ada' }, { authorization: 'Bearer eve' }],
  ] as const) {
    test(`an endpoint does not exist for a caller with another ${how}`, async () => {
      const { server, open } = await start({ middlewares })
      const { reader, endpoint, use } = await open({}, own)
      const stolen = await call(endpoint, rpc('s', 'tools/call', { name: 'plain', arguments: {} }), other)
      expect(stolen.status).toBe(404)
      await use('a')
      expect(await textOf(reader, 'a')).toBeDefined()
      expect(server.received('tools/call')).toHaveLength(1)
      reader.close()
    })
  }

  test('a call that a policy refuses gets its response on the stream', async () => {
    const refuse: MiddlewareFactory = async () => ({
      name: 'no-calls',
      stage: 'authorize',
      wrap: next => async exchange => {
        const message = await exchange.message()
        if (message && 'method' in message && message.method === 'tools/call')
          return exchange.respond('{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"denied"}}')
        return next(exchange)
      },
    })
    const { server, open } = await start({ middlewares: [refuse] })
    const { reader, use } = await open()
    expect((await use('a')).status).toBe(202)
    expect(await textOf(reader, 'a')).toBe('denied')
    expect(server.received('tools/call')).toEqual([])
    reader.close()
  })

  test('a list that a policy changes is changed on the stream', async () => {
    const { open } = await start({
      middlewares: [
        async () => ({
          name: 'no-tools',
          stage: 'authorize',
          rewrites: new Map([['tools/list', async () => '{"tools":[]}']]),
          wrap: next => next,
        }),
      ],
    })
    const { reader, send } = await open()
    await send(rpc('l', 'tools/list', {}))
    expect((await reader.next())?.json).toMatchObject({ id: 'l', result: { tools: [] } })
    reader.close()
  })

  test('the server gets the query with which the stream was opened', async () => {
    const { server, open } = await start()
    const { reader, use } = await open({}, {}, '/sse?key=abc')
    await use('a')
    await textOf(reader, 'a')
    expect(server.received('tools/call').map(({ url }) => url)).toEqual(['/mcp?key=abc'])
    reader.close()
  })
})

describe('sessions that end', () => {
  test('a client that leaves ends its session and its call at the server', async () => {
    let isCut = false
    const { server, open } = await start({
      respond(seen, response) {
        if (seen.message.params?.name !== 'held') return false
        response.on('close', () => {
          isCut = true
        })
        return true
      },
    })
    const { reader, use, endpoint } = await open()
    await use('a', 'held')
    await expect.poll(() => server.received('tools/call')).toHaveLength(1)
    reader.close()
    const ended = () => server.seen.filter(isDelete).map(({ headers }) => headers['mcp-session-id'])
    // The first one is that of the question whether the server has sessions.
    await expect.poll(ended).toEqual([...server.sessions])
    await expect.poll(() => isCut).toBe(true)
    expect((await call(endpoint, rpc('b', 'ping'))).status).toBe(404)
  })

  test('a session that the server has lost is opened again, and the call is made once', async () => {
    const { server, open } = await start()
    const { reader, use } = await open()
    const before = server.received('initialize').length
    server.sessions.clear()
    await use('a')
    expect([...server.sessions]).toEqual([await textOf(reader, 'a')])
    expect(server.received('initialize')).toHaveLength(before + 1)
    reader.close()
  })

  test('a server that loses each session is an error for each call', async () => {
    const { server, open } = await start({
      respond: ({ message }, response) =>
        message.method === 'tools/call' && Boolean(response.writeHead(404).end()),
    })
    const { reader, use } = await open()
    for (const id of ['a', 'b']) {
      await use(id)
      expect(await textOf(reader, id)).toContain('404')
    }
    expect(server.received('tools/call')).toHaveLength(4)
    reader.close()
  })

  test('a session goes on at the server that is connected next; what was in flight is an error', async () => {
    const { server, proxy, open } = await start({
      respond: ({ message }) => message.params?.name === 'held',
    })
    const { reader, use } = await open()
    await use('a', 'held')
    await expect.poll(() => server.received('tools/call')).toHaveLength(1)
    proxy.disconnect('it ended')
    expect(await textOf(reader, 'a')).toContain('ended before it responded')
    const next = await startLegacyServer()
    await proxy.connect({ kind: 'http', target: new URL(next.origin), remote: false })
    await use('b')
    expect([...next.sessions]).toEqual([await textOf(reader, 'b')])
    expect(next.received('tools/call')).toHaveLength(1)
    reader.close()
  })
})

describe('servers and clients that misbehave', () => {
  test('a server that never responds is an error on the stream when the time is over', async () => {
    const { open } = await start({
      headersTimeoutMs: 1500,
      respond: ({ message }) => message.method === 'tools/call',
    })
    const { reader, use } = await open()
    expect((await use('a')).status).toBe(202)
    expect(await textOf(reader, 'a')).toMatch(/did not respond/)
    reader.close()
  })

  test('a server that never responds to initialize is an error, and the next client is served', async () => {
    let isSilent = false
    const { open, connect } = await start({
      headersTimeoutMs: 1500,
      respond: ({ message }) => isSilent && message.method === 'initialize',
    })
    ;(await open()).reader.close()
    isSilent = true
    const { reader, send } = await connect()
    await send(rpc('i', 'initialize', { protocolVersion: '2024-11-05', capabilities: {} }))
    expect((await reader.next())?.json).toMatchObject({ id: 'i', error: {} })
    isSilent = false
    const next = await open()
    expect(next.result.serverInfo.name).toBe('legacy')
    for (const one of [reader, next.reader]) one.close()
  })

  test('responses that the server sends to others, or twice, reach nobody', async () => {
    const { open } = await start({
      respond({ message }, response) {
        if (message.method !== 'tools/call') return false
        const result = (id: unknown, text: string) =>
          `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}\n\n`
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(result(message.id + 1, 'not asked for'))
        response.write(result(message.id, 'own'))
        response.end(result(message.id, 'again'))
        return true
      },
    })
    const [one, two] = [await open(), await open()]
    for (const { reader, use } of [one, two]) {
      await use('a')
      expect(await textOf(reader, 'a')).toBe('own')
    }
    for (const { reader, send } of [one, two]) {
      await send(rpc('p', 'tools/list', {}))
      expect((await reader.next())?.json.id).toBe('p')
      reader.close()
    }
  })

  test('a client that reads nothing is cut, and its session ends at the server', async () => {
    let written = 0
    const { server, open } = await start({
      respond({ message }, response) {
        if (message.params?.name !== 'flood') return false
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const data = 'x'.repeat(64 * 1024)
        const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data } })
        const more = () => {
          while (!response.destroyed) {
            written += data.length
            if (!response.write(`data: ${note}\n\n`)) break
          }
        }
        response.on('drain', more)
        more()
        return true
      },
    })
    const { reader, use } = await open()
    reader.pause()
    await use('a', 'flood')
    await expect.poll(() => server.seen.some(isDelete), { timeout: 60_000 }).toBe(true)
    expect(written).toBeLessThan(64 * 1024 * 1024)
    reader.close()
  })

  test('one caller gets half of a thousand streams, and one that ends makes room', async () => {
    const { proxy, connect } = await start()
    const clients = []
    for (let n = 0; n < 500; n += 50)
      clients.push(...(await Promise.all(Array.from({ length: 50 }, () => connect()))))
    expect(new Set(clients.map(({ reader }) => reader.status))).toEqual(new Set([200]))
    const refused = await call(`${proxy.origin}/mcp`, undefined, EVENTS, 'GET')
    expect(refused.status).toBe(503)
    clients.pop()?.reader.close()
    await expect
      .poll(
        async () => {
          const reader = await stream(`${proxy.origin}/mcp`, { headers: EVENTS })
          clients.push({ reader })
          return reader.status
        },
        { timeout: 60_000 },
      )
      .toBe(200)
    for (const { reader } of clients) reader.close()
  })
})

test.each(['/mcp', '/sse', '/deep/mcp'])(
  'a remote server is reached at its own path, with %s',
  async path => {
    const server = await startLegacyServer()
    const remote_url = `${server.origin}/deep/mcp`
    const proxy = await testProxy({ target: remote_url, config: { remote_url } })
    const reader = await stream(`${proxy.origin}${path}`, { headers: EVENTS })
    const endpoint = (await reader.next())?.data ?? ''
    await call(endpoint, rpc('i', 'initialize', { protocolVersion: '2024-11-05', capabilities: {} }))
    expect((await reader.next())?.json).toMatchObject({ id: 'i', result: { serverInfo: { name: 'legacy' } } })
    expect(new Set(server.received('initialize').map(({ url }) => url))).toEqual(new Set(['/deep/mcp']))
    reader.close()
  },
)
