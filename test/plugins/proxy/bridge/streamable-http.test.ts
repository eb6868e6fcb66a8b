import { describe, expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, send, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

async function start(options: Parameters<typeof startBridge>[0] = {}) {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment, ...options })
  return { server, ...started }
}

describe('requests', () => {
  test('two clients with the same id each get their own response, with its type', async () => {
    const { server, url } = await start()
    const [a, b] = [await open(url), await open(url)]
    const first = call(url, rpc(1, 'tools/call', { name: 'a' }), a.headers)
    const second = call(url, rpc('1', 'tools/call', { name: 'b' }), b.headers)
    for (let n = 0; n < 2; n++) {
      const { message } = await server.take('tools/call')
      server.send({ jsonrpc: '2.0', id: message.id, result: { for: message.params.name } })
    }
    expect((await first).json).toEqual({ jsonrpc: '2.0', id: 1, result: { for: 'a' } })
    expect((await second).json).toEqual({ jsonrpc: '2.0', id: '1', result: { for: 'b' } })
  })

  test('the same id twice in one session is two requests', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const answers = ['x', 'y'].map(name => call(url, rpc(7, 'tools/call', { name }), a.headers))
    const lines = [await server.take('tools/call'), await server.take('tools/call')]
    for (const { message } of lines.reverse()) {
      server.send({ jsonrpc: '2.0', id: message.id, result: message.params.name })
    }
    expect((await Promise.all(answers)).map(answer => answer.json.result)).toEqual(['x', 'y'])
  })

  test('text passes byte for byte both ways', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const params =
      '{"big":12345678901234567890,"one":1.0,"exp":1E2,"text":"\\u00e9é\\/😀","x-unknown":{"id":1}}'
    const answer = call(
      url,
      `{"id":1.0, "method":"tools/call","params":${params},"jsonrpc":"2.0","extra":[1.50]}`,
      a.headers,
    )
    const { text, message } = await server.take('tools/call')
    expect(text).toBe(
      `{"id":${message.id}, "method":"tools/call","params":${params},"jsonrpc":"2.0","extra":[1.50]}`,
    )
    server.raw(`{"result": ${params} ,"jsonrpc":"2.0","id":${message.id},"more":0.10}\r\n`)
    expect((await answer).text).toBe(`{"result": ${params} ,"jsonrpc":"2.0","id":1.0,"more":0.10}`)
  })

  test('a pretty-printed body reaches the server as one line', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const answer = call(url, JSON.stringify(rpc(1, 'tools/call', { a: ['b\n'] }), null, 2), a.headers)
    const { message } = await server.take('tools/call')
    expect(message.params).toEqual({ a: ['b\n'] })
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    expect((await answer).status).toBe(200)
  })

  test('errors of the server pass through', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const answer = call(url, rpc(1, 'nope'), a.headers)
    const { message } = await server.take('nope')
    server.send({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no', data: { x: 1 } } })
    expect((await answer).json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32601, message: 'no', data: { x: 1 } },
    })
  })

  test('a request without a session initialises the server by itself', async () => {
    const { server, url } = await start()
    const answer = call(url, rpc(5, 'tools/list'))
    const { message } = await server.take('tools/list')
    expect(server.received('initialize')).toHaveLength(1)
    expect(server.received('notifications/initialized')).toHaveLength(1)
    server.send({ jsonrpc: '2.0', id: message.id, result: { tools: [] } })
    expect((await answer).json).toEqual({ jsonrpc: '2.0', id: 5, result: { tools: [] } })
  })
})

describe('refusals', () => {
  test.each([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
    ['broken JSON', '{"jsonrpc":', 400, -32700],
    [
      'text that is not UTF-8',
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1'),
      400,
      -32700,
    ],
    ['JSON that is no message', '{"hello":1}', 400, -32600],
    ['a repeated id', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32600],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
  ])('%s', async (_what, body, status, code) => {
    const { url } = await start()
    const answer = await call(url, body)
    expect(answer.status).toBe(status)
    expect(answer.json.error.code).toBe(code)
    expect(answer.json).not.toHaveProperty('id')
  })

  test('a batch is refused under any content type, anything else needs application/json', async () => {
    const { url } = await start()
    expect((await call(url, '[]', { 'content-type': 'text/plain' })).json.error.code).toBe(-32600)
    expect((await call(url, rpc(1, 'ping'), { 'content-type': 'text/plain' })).status).toBe(415)
  })

  test('an Accept header that allows neither form is 406', async () => {
    const { url } = await start()
    expect((await call(url, rpc(1, 'ping'), { accept: 'text/html' })).status).toBe(406)
    expect((await call(url, undefined, { accept: 'application/json' }, 'GET')).status).toBe(406)
  })

  test('an unknown session is 404 with the id of the request, big ones too', async () => {
    const { url } = await start()
    const headers = { 'mcp-session-id': '6ba7b810-9dad-11d1-80b4-00c04fd430c8' }
    const answer = await call(url, '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', headers)
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('"id":12345678901234567890')
    expect(answer.json.error).toEqual({ code: -32001, message: 'Session not found' })
    expect((await call(url, undefined, { ...headers, accept: 'text/event-stream' }, 'GET')).status).toBe(404)
    expect((await call(url, undefined, headers, 'DELETE')).status).toBe(404)
  })

  test('DELETE needs a session header, other methods are 405', async () => {
    const { url } = await start()
    expect((await call(url, undefined, {}, 'DELETE')).status).toBe(400)
    expect((await call(url, undefined, {}, 'PUT')).status).toBe(405)
  })

  test('when too many wait, 503 with Retry-After', async () => {
    const { server, url } = await start({ limits: { maxPending: 1 } })
    const a = await open(url)
    const first = call(url, rpc(1, 'tools/call'), a.headers)
    const { message } = await server.take('tools/call')
    const second = await call(url, rpc(2, 'tools/call'), { ...a.headers, accept: 'text/event-stream' })
    expect(second.status).toBe(503)
    expect(second.headers['retry-after']).toBe('1')
    expect(second.json.id).toBe(2)
    server.send({ jsonrpc: '2.0', id: message.id, result: 'ok' })
    expect((await first).json.result).toBe('ok')
  })

  test('when the server does not read, 503', async () => {
    const server = createPuppet({ deaf: true })
    const { url, bridge } = await startBridge({
      attachment: server.attachment,
      limits: { maxQueuedBytes: 1000 },
    })
    const note = { jsonrpc: '2.0', method: 'notifications/x', params: { data: 'x'.repeat(20_000) } }
    const statuses: number[] = []
    void call(url, rpc(1, 'initialize', {})).catch(() => {})
    while (statuses.at(-1) !== 503 && statuses.length < 20) statuses.push((await call(url, note)).status)
    expect(statuses.at(-1)).toBe(503)
    expect(bridge.health().status).toBe('degraded')
  })

  test('when all sessions are taken, 503', async () => {
    const { url } = await start({ limits: { maxSessions: 1 } })
    await open(url)
    const answer = await call(url, rpc(1, 'initialize', {}))
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBe('60')
  })
})

describe('initialize', () => {
  test('concurrent first calls share one and each gets its own id', async () => {
    const server = createPuppet({ initialize: false })
    const { url } = await startBridge({ attachment: server.attachment })
    const calls = [1, 'b', 3].map(id => call(url, rpc(id, 'initialize', { protocolVersion: '2025-03-26' })))
    const { message } = await server.take('initialize')
    server.raw(`{"jsonrpc":"2.0","id":${message.id},"result":{"protocolVersion":"2025-03-26","n":1.0}}\n`)
    const answers = await Promise.all(calls)
    expect(answers.map(answer => answer.json.id)).toEqual([1, 'b', 3])
    for (const answer of answers)
      expect(answer.text).toContain('"result":{"protocolVersion":"2025-03-26","n":1.0}')
    expect(new Set(answers.map(answer => answer.headers['mcp-session-id'])).size).toBe(3)
    expect(server.received('initialize')).toHaveLength(1)
  })

  test('it goes on when the first caller hangs up', async () => {
    const server = createPuppet({ initialize: false })
    const { url } = await startBridge({ attachment: server.attachment })
    const gone = send(url, { body: rpc(1, 'initialize', {}) })
    gone.catch(() => {})
    const { message } = await server.take('initialize')
    const second = call(url, rpc(2, 'initialize', {}))
    server.send({ jsonrpc: '2.0', id: message.id, result: { protocolVersion: '2025-06-18' } })
    expect((await second).json).toMatchObject({ id: 2, result: { protocolVersion: '2025-06-18' } })
  })

  test('an error reaches everybody who waits and is not kept', async () => {
    const server = createPuppet({ initialize: false })
    const { url } = await startBridge({ attachment: server.attachment })
    const first = call(url, rpc(1, 'initialize', {}))
    const failed = await server.take('initialize')
    server.send({ jsonrpc: '2.0', id: failed.message.id, error: { code: -32603, message: 'not yet' } })
    expect((await first).json).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'not yet' } })
    expect((await first).headers).not.toHaveProperty('mcp-session-id')
    const second = call(url, rpc(2, 'initialize', {}))
    const { message } = await server.take('initialize')
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    expect((await second).status).toBe(200)
  })

  test.each([
    ['2025-11-25', '2025-06-18', '2025-06-18'],
    ['2025-11-25', '2024-11-05', '2024-11-05'],
    ['2025-11-25', '2024-01-01', '2025-11-25'],
    ['2025-03-26', '2025-11-25', '2025-03-26'],
    ['2025-03-26', '2099-01-01', '2025-03-26'],
  ])(
    'when the server agreed on %s with another client, one that asks for %s gets %s',
    async (agreed, asked, gets) => {
      const server = createPuppet({
        initialize: { protocolVersion: agreed, serverInfo: { name: 'p' }, n: 1.0 },
      })
      const { url } = await startBridge({ attachment: server.attachment })
      const initialize = (version: string) =>
        call(url, rpc(1, 'initialize', { protocolVersion: version, capabilities: {} }))
      expect((await initialize(agreed)).json.result.protocolVersion).toBe(agreed)
      const { result } = (await initialize(asked)).json
      expect(result).toEqual({ protocolVersion: gets, capabilities: {}, serverInfo: { name: 'p' }, n: 1 })
    },
  )

  test('what the server responds to the version that a client asked for stands', async () => {
    const server = createPuppet({ initialize: { protocolVersion: '2025-11-25' } })
    const { url } = await startBridge({ attachment: server.attachment })
    for (const id of [1, 2]) {
      const { result } = (await call(url, rpc(id, 'initialize', { protocolVersion: '2024-11-05' }))).json
      expect(result.protocolVersion).toBe('2025-11-25')
    }
  })

  test.each(['GET', 'POST', 'DELETE'])(
    'a %s with a version that does not exist is refused with 400',
    async method => {
      const { url } = await start()
      const { headers } = await open(url)
      const body = method === 'POST' ? rpc(1, 'ping') : undefined
      for (const version of ['2024-13-01', '1.0', 'x', '']) {
        const { status, text } = await call(
          url,
          body,
          { ...headers, 'mcp-protocol-version': version },
          method,
        )
        expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('2025-11-25') })
      }
    },
  )

  test('only the first initialized notification is forwarded', async () => {
    const { server, url } = await start()
    await open(url)
    await open(url)
    const done = call(url, rpc(1, 'x'))
    const { message } = await server.take('x')
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await done
    expect(server.received('notifications/initialized')).toHaveLength(1)
  })
})

describe('event streams', () => {
  test('progress travels on the stream of its request, under the client’s own token', async () => {
    const { server, url } = await start()
    const [a, b] = [await open(url), await open(url)]
    const body = (token: unknown) => rpc(1, 'tools/call', { _meta: { progressToken: token, other: 1 } })
    const first = await stream(url, { body: body(1), headers: a.headers })
    const second = await stream(url, { body: body('1'), headers: b.headers })
    for (const name of ['a', 'b']) {
      const { message } = await server.take('tools/call')
      expect(message.params._meta).toEqual({ progressToken: message.id, other: 1 })
      server.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: message.id, progress: 1, message: name },
      })
      server.send({ jsonrpc: '2.0', id: message.id, result: name })
    }
    const events = [await first.rest(), await second.rest()]
    expect(
      events.map(list => list.map(event => event.json.params?.progressToken ?? event.json.result)),
    ).toEqual([
      [1, 'a'],
      ['1', 'b'],
    ])
  })

  test('a client of 2025-11-25 gets an event to resume from before the first message; an older one does not', async () => {
    const { server, url } = await start()
    for (const [version, primed] of [
      ['2025-11-25', true],
      ['2025-06-18', false],
    ] as const) {
      const a = await open(url, {}, version)
      const reader = await stream(url, { body: rpc(1, 'tools/call'), headers: a.headers })
      const { message } = await server.take('tools/call')
      server.send({ jsonrpc: '2.0', id: message.id, result: {} })
      const event = await reader.nextAny()
      expect(event?.data === '' && /_0$/.test(event.id ?? '')).toBe(primed)
      reader.close()
    }
  })

  test('a broken stream resumes with what was missed, and nothing twice', async () => {
    const { server, url, cut } = await start()
    const a = await open(url)
    const reader = await stream(url, {
      body: rpc(9, 'tools/call', { _meta: { progressToken: 'p' } }),
      headers: a.headers,
    })
    const { message } = await server.take('tools/call')
    const progress = (n: number) =>
      server.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: message.id, progress: n },
      })
    progress(1)
    const seen = await reader.next()
    cut()
    expect(await reader.next()).toBeUndefined()
    progress(2)
    server.send({ jsonrpc: '2.0', id: message.id, result: 'done' })
    const resumed = await stream(url, { headers: { ...a.headers, 'last-event-id': String(seen?.id) } })
    const rest = await resumed.rest()
    expect(rest.map(event => event.json.params?.progress ?? event.json)).toEqual([
      2,
      { jsonrpc: '2.0', id: 9, result: 'done' },
    ])
    const again = await call(
      url,
      undefined,
      { ...a.headers, accept: 'text/event-stream', 'last-event-id': String(rest[1]?.id) },
      'GET',
    )
    expect(again.status).toBe(204)
    const other = await open(url)
    const foreign = { ...other.headers, accept: 'text/event-stream', 'last-event-id': String(seen?.id) }
    expect((await call(url, undefined, foreign, 'GET')).status).toBe(400)
  })

  test('a client that never resumes has its request cancelled after the grace time', async () => {
    const { server, url } = await start({ limits: { resumeGraceMs: 50 } })
    const a = await open(url)
    const reader = await stream(url, { body: rpc(1, 'tools/call'), headers: a.headers })
    const { message } = await server.take('tools/call')
    expect(server.received('notifications/cancelled')).toEqual([])
    reader.close()
    expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
  })

  test('a client that waits for JSON and hangs up cancels at once, one without a session too', async () => {
    const { server, url } = await start()
    const a = await open(url)
    for (const headers of [a.headers, {}]) {
      const { request } = await import('node:http')
      const outgoing = request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      })
      outgoing.on('error', () => {})
      outgoing.end(JSON.stringify(rpc(1, 'tools/call')))
      const { message } = await server.take('tools/call')
      outgoing.destroy()
      expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
    }
  })

  test('what arrives while no stream is open waits for the next one', async () => {
    const { server, url } = await start()
    const a = await open(url)
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    server.send({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' })
    const flushed = call(url, rpc(1, 'x'), a.headers)
    const { message } = await server.take('x')
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await flushed
    const reader = await stream(url, { headers: a.headers })
    expect((await reader.next())?.json.method).toBe('notifications/tools/list_changed')
    expect((await reader.next())?.json.method).toBe('notifications/prompts/list_changed')
  })

  test('of two standalone streams only one gets a message', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const old = await stream(url, { headers: a.headers })
    const young = await stream(url, { headers: a.headers })
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    expect((await young.next())?.json.method).toBe('notifications/tools/list_changed')
    young.close()
    await expect
      .poll(async () => {
        server.send({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' })
        return old.seen
      })
      .toContain('prompts')
    expect(old.seen).not.toContain('tools')
  })

  test('an open stream is kept alive by comments', async () => {
    const { url } = await start({ limits: { keepAliveMs: 20 } })
    const a = await open(url)
    const reader = await stream(url, { headers: a.headers })
    await expect.poll(() => reader.seen).toContain(': keepalive\n\n')
  })

  test('a client that reads nothing loses its stream, not its neighbours theirs', async () => {
    const { server, url, log } = await start({ limits: { maxEvents: 10, maxEventBytes: 1_000_000 } })
    const [slow, other] = [await open(url), await open(url)]
    const blocked = await send(url, {
      method: 'GET',
      headers: { ...slow.headers, accept: 'text/event-stream' },
    })
    blocked.pause()
    const reader = await stream(url, { headers: other.headers })
    let read = 0
    const data = 'x'.repeat(100_000)
    for (let n = 0; n < 300; n++) {
      server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { n, data } })
      const event = await reader.next()
      if (event?.json.params.n === n) read += 1
    }
    expect(read).toBe(300)
    await expect.poll(() => log.join('')).toContain('a message was dropped')
  })
})

describe('sessions', () => {
  test('DELETE cancels what the session asked for and unsubscribes it', async () => {
    const { server, url } = await start()
    const a = await open(url)
    const waiting = call(url, rpc(1, 'tools/call'), a.headers)
    const { message } = await server.take('tools/call')
    const subscribed = call(url, rpc(2, 'resources/subscribe', { uri: 'a://é€😀' }), a.headers)
    server.send({ jsonrpc: '2.0', id: (await server.take('resources/subscribe')).message.id, result: {} })
    await subscribed
    expect((await call(url, undefined, a.headers, 'DELETE')).status).toBe(204)
    expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
    expect((await server.take('resources/unsubscribe')).message.params).toEqual({ uri: 'a://é€😀' })
    expect((await waiting).json.error.code).toBe(-32000)
    expect((await call(url, rpc(3, 'ping'), a.headers)).status).toBe(404)
  })

  test('an idle session ends after its time to live; one with an open stream does not', async () => {
    let time = 0
    const { url } = await start({ ttlMs: 1000, now: () => time })
    const [idle, open2] = [await open(url), await open(url)]
    await stream(url, { headers: open2.headers })
    time = 5000
    expect((await call(url, rpc(1, 'ping'), idle.headers)).status).toBe(404)
    expect((await call(url, { jsonrpc: '2.0', method: 'notifications/x' }, open2.headers)).status).toBe(202)
  })

  test('an idle session makes room when all places are taken', async () => {
    let time = 0
    const { url } = await start({ ttlMs: 10_000_000, now: () => time, limits: { maxSessions: 1 } })
    const old = await open(url)
    time = 10 * 60_000
    await open(url)
    expect((await call(url, rpc(1, 'ping'), old.headers)).status).toBe(404)
  })
})

describe('time-outs', () => {
  test('JSON is 504 with the id kept, and the request is cancelled at the server', async () => {
    const { server, url } = await start({ limits: { requestTimeoutMs: 50 } })
    const a = await open(url)
    const answer = await call(url, rpc('x', 'tools/call'), a.headers)
    expect(answer.status).toBe(504)
    expect(answer.json).toMatchObject({ id: 'x', error: { code: -32000 } })
    await server.take('notifications/cancelled')
  })

  test('a stream ends with an error event', async () => {
    const { url } = await start({ limits: { requestTimeoutMs: 50 } })
    const a = await open(url)
    const events = await (await stream(url, { body: rpc('x', 'tools/call'), headers: a.headers })).rest()
    expect(events.map(event => event.json)).toMatchObject([{ id: 'x', error: { code: -32000 } }])
  })

  test('progress starts the time anew', async () => {
    let time = 0
    const { server, url } = await start({ limits: { requestTimeoutMs: 1000 }, now: () => time })
    const a = await open(url)
    const reader = await stream(url, {
      body: rpc(1, 'tools/call', { _meta: { progressToken: 1 } }),
      headers: a.headers,
    })
    const { message } = await server.take('tools/call')
    for (let n = 1; n <= 3; n++) {
      time += 900
      server.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: message.id, progress: n },
      })
      expect((await reader.next())?.json.params.progress).toBe(n)
    }
    server.send({ jsonrpc: '2.0', id: message.id, result: 'late but well' })
    expect((await reader.next())?.json.result).toBe('late but well')
  })
})

test('another path is 404', async () => {
  const { origin } = await start()
  for (const path of ['/', '/ssex', '/mcpx', '/mcp/x']) {
    expect((await call(`${origin}${path}`, rpc(1, 'ping'))).status).toBe(404)
  }
})
