import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createHttpSessions } from '../../../plugins/proxy/http-sessions.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

/** A server with sessions that can forget them. Remembers which methods it was asked in which session. */
function sessionServer(unknown = 404) {
  const known = new Set<string>()
  const asked: string[] = []
  let initializes = 0
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const message = body ? JSON.parse(body) : {}
    const id = request.headers['mcp-session-id']
    if (message.method === 'initialize') {
      initializes++
      const session = randomUUID()
      known.add(session)
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': session })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { had: id ?? null } }))
      return
    }
    if (typeof id !== 'string' || !known.has(id)) {
      response.writeHead(unknown, { 'content-type': 'application/json' }).end('{"unknown":"session"}')
      return
    }
    if (request.method === 'DELETE') {
      known.delete(id)
      response.writeHead(200).end()
      return
    }
    asked.push(message.method ?? request.method)
    response.writeHead(message.id === undefined ? 202 : 200, {
      'content-type': 'application/json',
      'mcp-session-id': id,
    })
    response.end(
      message.id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} }),
    )
  }
  return { listener, known, asked, initializes: () => initializes }
}

async function initialize(url: string, headers = {}) {
  const answer = await post(url, rpc('initialize', 0, { protocolVersion: '2025-11-25' }), headers)
  return {
    session: answer.headers.get('mcp-session-id') ?? '',
    body: (await answer.json()) as { result: { had: string | null } },
  }
}

describe('the guard', () => {
  test('a session that the server opened is let through', async () => {
    const server = sessionServer()
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    const answer = await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), { 'mcp-session-id': session })
    expect(answer.status).toBe(200)
  })

  test('an unknown one is refused with the id of the request and its type, without asking the server', async () => {
    const server = sessionServer()
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const answer = await post(`${proxy.origin}/mcp`, rpc('tools/list', '1'), { 'mcp-session-id': 'made-up' })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: '1',
      error: { code: -32001, message: 'Session not found' },
    })
    expect(server.asked).toEqual([])
  })

  test.each(['GET', 'DELETE'])('an unknown one of a %s is refused without an id', async method => {
    const proxy = await testProxy({ target: await testServer(sessionServer().listener) })
    const answer = await fetch(`${proxy.origin}/mcp`, { method, headers: { 'mcp-session-id': 'made-up' } })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32001, message: 'Session not found' },
    })
  })

  test('initialize opens a session whatever session header it carries', async () => {
    const server = sessionServer()
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const first = await initialize(`${proxy.origin}/mcp`, { 'mcp-session-id': 'made-up' })
    const second = await initialize(`${proxy.origin}/mcp`, { 'mcp-session-id': first.session })
    expect(first.body.result.had).toBeNull()
    expect(second.body.result.had).toBeNull()
    expect(second.session).not.toBe(first.session)
  })

  test('a session that was deleted is unknown', async () => {
    const proxy = await testProxy({ target: await testServer(sessionServer().listener) })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    const headers = { 'mcp-session-id': session }
    expect((await fetch(`${proxy.origin}/mcp`, { method: 'DELETE', headers })).status).toBe(200)
    expect((await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), headers)).status).toBe(404)
  })

  test('requests of the stateless revision are not looked at', async () => {
    let seen: unknown
    const proxy = await testProxy({
      target: await testServer((request, response) => {
        seen = request.headers['mcp-session-id']
        response.end('{}')
      }),
      config: { protocol: 'stateless' },
    })
    const headers = { 'mcp-session-id': 'anything', 'mcp-protocol-version': '2026-07-28' }
    expect((await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), headers)).status).toBe(200)
    expect(seen).toBe('anything')
  })
})

describe('recovery', () => {
  test.each([404, 400])(
    'a client does not notice that the server was replaced (which responds with %d)',
    async unknown => {
      const before = sessionServer(unknown)
      const after = sessionServer(unknown)
      const proxy = await testProxy({ target: await testServer(before.listener) })
      const { session } = await initialize(`${proxy.origin}/mcp`)
      proxy.disconnect('crashed')
      await proxy.connect({ kind: 'http', target: new URL(await testServer(after.listener)), remote: false })

      const headers = { 'mcp-session-id': session }
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map(id => post(`${proxy.origin}/mcp`, rpc('tools/list', id), headers)),
      )

      expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200, 200])
      expect(answers.map(answer => answer.headers.get('mcp-session-id'))).toEqual(Array(5).fill(session))
      expect(after.initializes()).toBe(1)
      expect(after.asked[0]).toBe('notifications/initialized')
      expect(after.asked.filter(method => method === 'tools/list')).toHaveLength(5)
    },
  )

  test('a session lost by the same server is opened again, and the new id ends it', async () => {
    const server = sessionServer()
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    server.known.clear()
    const headers = { 'mcp-session-id': session }
    expect((await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), headers)).status).toBe(200)
    expect((await fetch(`${proxy.origin}/mcp`, { method: 'DELETE', headers })).status).toBe(200)
    expect(server.known.size).toBe(0)
  })

  test.each([
    { bytes: 8_000, status: 200 },
    { bytes: 100_000, status: 404 },
  ])(
    'an initialize of $bytes bytes is kept or not: $status after the server has lost the session',
    async given => {
      const server = sessionServer()
      const proxy = await testProxy({
        target: await testServer(server.listener),
        // A policy has read the whole body, however long it is.
        middlewares: [
          async () => ({
            name: 'reads',
            stage: 'authorize',
            wrap: next => async exchange => {
              await exchange.body()
              return next(exchange)
            },
          }),
        ],
      })
      const padding = 'x'.repeat(given.bytes)
      const begun = await post(`${proxy.origin}/mcp`, rpc('initialize', 0, { padding }))
      server.known.clear()
      const headers = { 'mcp-session-id': String(begun.headers.get('mcp-session-id')) }
      expect((await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), headers)).status).toBe(given.status)
    },
  )

  test('400 of a server that was not replaced is passed on', async () => {
    const server = sessionServer(400)
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    server.known.clear()
    const answer = await post(`${proxy.origin}/mcp`, rpc('tools/list', 1), { 'mcp-session-id': session })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ unknown: 'session' })
  })

  test('event ids of a replaced server are not sent to the new one', async () => {
    const server = sessionServer()
    const seen: unknown[] = []
    const proxy = await testProxy({
      target: await testServer((request, response) => {
        if (request.method === 'GET') seen.push(request.headers['last-event-id'])
        server.listener(request, response)
      }),
    })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    server.known.clear()
    const headers = { 'mcp-session-id': session, 'last-event-id': '17' }
    const get = () => fetch(`${proxy.origin}/mcp`, { headers }).then(answer => answer.text())
    await get()
    await get()
    expect(seen).toEqual(['17', undefined, '17'])
  })

  test('a server that does not open it again leaves a plain 404', async () => {
    const server = sessionServer()
    const proxy = await testProxy({ target: await testServer(server.listener) })
    const { session } = await initialize(`${proxy.origin}/mcp`)
    await proxy.connect({
      kind: 'http',
      target: new URL(await testServer((_request, response) => response.writeHead(404).end('gone'))),
      remote: false,
    })
    const answer = await post(`${proxy.origin}/mcp`, rpc('tools/list', 9), { 'mcp-session-id': session })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ id: 9, error: { code: -32001 } })
  })
})

describe('the store', () => {
  const clock = (ttlMs = 100, max = 3) => {
    let time = 0
    const sessions = createHttpSessions({ ttlMs, max, now: () => time })
    const add = (id: string) => sessions.add({ id, owner: undefined, epoch: 1, opening: undefined })
    return { sessions, add, wait: (ms: number) => (time += ms) }
  }

  test('being used keeps a session alive, being idle ends it', () => {
    const { sessions, add, wait } = clock()
    add('a')
    wait(99)
    expect(sessions.find('a', undefined)?.id).toBe('a')
    wait(99)
    expect(sessions.find('a', undefined)?.id).toBe('a')
    wait(100)
    expect(sessions.find('a', undefined)).toBeUndefined()
  })

  test('past its size the one idle longest makes room', () => {
    const { sessions, add, wait } = clock()
    for (const id of ['a', 'b', 'c']) add(id)
    wait(10)
    sessions.find('a', undefined)
    add('d')
    expect([...'abcd'].filter(id => sessions.find(id, undefined))).toEqual(['a', 'c', 'd'])
  })

  test('sweeping forgets idle ones only', () => {
    const { sessions, add, wait } = clock()
    add('old')
    wait(60)
    add('new')
    wait(60)
    sessions.sweep()
    expect(sessions.size).toBe(1)
    expect(sessions.find('new', undefined)).toBeDefined()
  })
})
