import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'
import { call, open, rpc, stream } from '../bridge/raw-client.ts'
import { testProxy } from '../test-proxy.ts'
import { startStatelessServer } from './stateless-server.ts'

type Headers = Record<string, string>
type Respond = NonNullable<Parameters<typeof startStatelessServer>[0]>['respond']

async function start(options: { respond?: Respond | undefined; config?: Partial<RunConfig> } = {}) {
  const { respond = () => false } = options
  const server = await startStatelessServer({ respond })
  const proxy = await testProxy({ target: server.origin, config: options.config ?? {} })
  const url = `${proxy.origin}/mcp`
  /** A client with a session, and these headers on each of its requests. */
  async function join(own: Headers = {}, capabilities: Record<string, unknown> = {}) {
    const begun = await initialize(own, capabilities)
    const headers = {
      ...own,
      'mcp-session-id': String(begun.headers['mcp-session-id']),
      'mcp-protocol-version': '2025-06-18',
    }
    await call(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
    const ask = (method: string, params: object = {}, more: Headers = {}) =>
      call(url, rpc(method, method, params), { ...headers, ...more })
    return {
      headers,
      ask,
      use: (name: string, args: object = {}, more: Headers = {}) =>
        ask('tools/call', { name, arguments: args }, more),
    }
  }
  const initialize = (own: Headers = {}, capabilities: Record<string, unknown> = {}) =>
    call(
      url,
      rpc(0, 'initialize', {
        protocolVersion: '2025-06-18',
        capabilities,
        clientInfo: { name: 'old', version: '1' },
      }),
      own,
    )
  return { server, proxy, url, join, initialize }
}

const textOf = ({ json }: { json: { result: { content: { text: string }[] } } }) =>
  json.result.content[0]?.text

const json = (response: Parameters<NonNullable<Respond>>[1], status: number, body: unknown, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

describe('which servers are translated for', () => {
  test('a server that refuses initialize is asked once what it is; later clients cost no such questions', async () => {
    const { server, proxy, join } = await start()
    const first = await join()
    expect(textOf(await first.use('plain'))).toBe('nobody')
    expect(server.received('initialize')).toHaveLength(2)
    expect(proxy.protocol).toBe('stateless')
    await join()
    expect(server.received('initialize')).toHaveLength(2)
    const [sent] = server.received('tools/call')
    expect(sent?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'plain' })
    expect(sent?.headers).not.toHaveProperty('mcp-session-id')
    expect(sent?.message.params._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'old', version: '1' },
    })
  })

  test('a server that is said to be stateless is never sent initialize', async () => {
    const { server, join } = await start({ config: { protocol: 'stateless' } })
    expect(textOf(await (await join()).use('plain'))).toBe('nobody')
    expect(server.received('initialize')).toEqual([])
  })

  test('a server that is said to be legacy gets initialize and gives its refusal', async () => {
    const { server, initialize } = await start({ config: { protocol: 'legacy' } })
    expect(await initialize()).toMatchObject({ status: 400, json: { error: { code: -32022 } } })
    expect(server.seen).toHaveLength(1)
  })

  test('a server of both eras gets initialize as it is, and nothing more', async () => {
    const { server, proxy, initialize } = await start({
      respond: ({ message }, response) =>
        message.method === 'initialize' && json(response, 200, { jsonrpc: '2.0', id: 0, result: { own: 1 } }),
    })
    expect((await initialize()).json.result).toEqual({ own: 1 })
    await initialize()
    expect(server.seen.map(({ message }) => message.method)).toEqual(['initialize', 'initialize'])
    await expect.poll(() => proxy.protocol).toBe('legacy')
  })

  test('a legacy server is known by a result on an event stream', async () => {
    const { proxy, initialize } = await start({
      respond({ message }, response) {
        if (message.method !== 'initialize') return false
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const data = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { own: 1 } })
        response.end(`data: ${data}\n\n`)
        return true
      },
    })
    expect((await initialize()).text).toContain('"own":1')
    await expect.poll(() => proxy.protocol).toBe('legacy')
  })

  test.each([200, 400])(
    'a server that refuses the key of one client with %d and an error of its own is asked again by the next',
    async status => {
      const { proxy, initialize, join } = await start({
        respond: ({ message, headers }, response) =>
          headers['x-api-key'] === 'bad' &&
          json(response, status, {
            jsonrpc: '2.0',
            id: message.id,
            error: { code: -32001, message: 'bad key' },
          }),
      })
      expect(await initialize({ 'x-api-key': 'bad' })).toMatchObject({
        status,
        json: { error: { code: -32001 } },
      })
      expect(proxy.protocol).toBeUndefined()
      expect(textOf(await (await join()).use('plain'))).toBe('nobody')
      expect(proxy.protocol).toBe('stateless')
    },
  )

  test('a server of both eras that refuses one client gives that refusal, and serves the next', async () => {
    const { server, proxy, initialize } = await start({
      respond({ message, headers }, response) {
        if (message.method !== 'initialize') return false
        const isBad = headers['x-bad'] !== undefined && message.id === 0
        const error = { code: -32022, message: 'not you' }
        return json(response, isBad ? 400 : 200, {
          jsonrpc: '2.0',
          id: message.id,
          ...(isBad ? { error } : { result: { own: 1 } }),
        })
      },
    })
    expect(await initialize({ 'x-bad': '1' })).toMatchObject({
      status: 400,
      json: { error: { message: 'not you' } },
    })
    expect(proxy.protocol).toBe('both')
    expect((await initialize()).json.result).toEqual({ own: 1 })
    expect(server.received('server/discover')).toHaveLength(1)
  })

  for (const [how, status, body] of [
    ['a page', 404, '<html>'],
    ['an error without a code', 400, '{"jsonrpc":"2.0","id":"keelson-check","error":{}}'],
    ['a result that names no versions', 200, '{"jsonrpc":"2.0","id":"keelson-check","result":{}}'],
    ['a text that is not JSON', 200, '{"jsonrpc":'],
    ['a refusal of the login', 401, ''],
  ] as const) {
    test(`a server that responds to server/discover with ${how} gives its own refusal of initialize`, async () => {
      const { proxy, initialize } = await start({
        respond({ message }, response) {
          if (message.method === 'initialize') return json(response, 400, { own: 'refusal' })
          response.writeHead(status, { 'content-type': 'application/json' }).end(body)
          return true
        },
      })
      expect(await initialize()).toMatchObject({ status: 400, json: { own: 'refusal' } })
      expect(proxy.protocol).not.toBe('stateless')
    })
  }

  test('a server that has become another one is found out again', async () => {
    let isNew = false
    const { initialize, join } = await start({
      respond({ message }, response) {
        if (!isNew) return false
        if (message.method !== 'initialize') return json(response, 400, { no: 'session' })
        return json(response, 200, { jsonrpc: '2.0', id: message.id, result: { own: 1 } })
      },
    })
    await join()
    isNew = true
    expect((await initialize()).json.error).toBeDefined()
    expect((await initialize()).json.result).toEqual({ own: 1 })
  })
})

describe('callers', () => {
  test('each client is served with its own credentials', async () => {
    const { join } = await start()
    const clients = await Promise.all(
      Array.from({ length: 20 }, (_, n) => join({ authorization: `Bearer ${n}` })),
    )
    const said = await Promise.all(
      clients.flatMap(({ use }) => [1, 2, 3].map(async () => textOf(await use('plain')))),
    )
    expect(said).toEqual(clients.flatMap((_, n) => Array(3).fill(`Bearer ${n}`)))
  })

  test('a session does not exist for other credentials, and nothing is sent with them', async () => {
    const { server, url, join } = await start()
    const { headers, ask } = await join({ authorization: 'Bearer ann' })
    const eve = { authorization: 'Bearer eve' }
    await expect.poll(() => server.received('subscriptions/listen')).toHaveLength(1)
    const before = server.seen.length
    expect((await ask('tools/list', {}, eve)).status).toBe(404)
    expect(
      (await call(url, undefined, { ...headers, ...eve, accept: 'text/event-stream' }, 'GET')).status,
    ).toBe(404)
    expect((await call(url, undefined, { ...headers, ...eve }, 'DELETE')).status).toBe(404)
    expect((await ask('tools/list', {}, { 'x-api-key': 'eve' })).status).toBe(404)
    expect((await call(`${url}?api_key=eve`, rpc(1, 'tools/list', {}), headers)).status).toBe(404)
    expect((await ask('tools/list')).json.result.tools).toHaveLength(2)
    const sent = server.seen.slice(before)
    expect(new Set(sent.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer ann']))
    expect(sent.filter(({ message }) => message.method === 'tools/list')).toHaveLength(1)
  })

  test('a server that wants a login is passed on with its challenge, and serves those who have one', async () => {
    const challenge = 'Bearer resource_metadata="https://a.example/meta"'
    const { initialize, join } = await start({
      config: { protocol: 'stateless' },
      respond({ headers }, response) {
        if (headers.authorization === 'Bearer good') return false
        return json(response, 401, 'log in', { 'www-authenticate': challenge })
      },
    })
    const refused = await initialize()
    expect([refused.status, refused.headers['www-authenticate'], refused.text]).toEqual([
      401,
      challenge,
      '"log in"',
    ])
    expect(textOf(await (await join({ authorization: 'Bearer good' })).use('plain'))).toBe('Bearer good')
  })

  test('a login that ends is an error for one call, then a challenge until it is good again', async () => {
    let isOver = false
    const challenge = 'Bearer error="invalid_token"'
    const { join, server } = await start({
      respond: (_, response) => isOver && json(response, 401, 'again', { 'www-authenticate': challenge }),
    })
    const { use } = await join()
    await expect.poll(() => server.received('subscriptions/listen')).toHaveLength(1)
    isOver = true
    expect((await use('plain')).json.error.message).toContain('status 401')
    const next = await use('plain')
    expect([next.status, next.headers['www-authenticate']]).toEqual([401, challenge])
    isOver = false
    expect(textOf(await use('plain'))).toBe('nobody')
  })
})

test('a call that needs another scope gets the challenge of the server; other requests are served', async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="write"'
  let isOnStream = false
  const { join, server } = await start({
    respond({ message: { method, params } }, response) {
      if (method !== 'tools/call' || params.name !== 'write') return false
      const refuse = () => json(response, 403, 'more', { 'www-authenticate': challenge })
      if (!isOnStream) return refuse()
      // The head of a response is held for a tenth of a second.
      setTimeout(refuse, 1500)
      return true
    },
  })
  const { use } = await join()
  const [refused, plain] = await Promise.all([use('write'), use('plain')])
  expect([refused.status, refused.headers['www-authenticate'], refused.text]).toEqual([
    403,
    challenge,
    '"more"',
  ])
  expect(textOf(plain)).toBe('nobody')
  expect(textOf(await use('plain'))).toBe('nobody')
  expect(server.received('server/discover')).toHaveLength(2)
  isOnStream = true
  const late = await use('write', {}, { accept: 'application/json, text/event-stream' })
  expect(late.status).toBe(200)
  expect(late.text).toContain('status 403')
})

describe('a login that is renewed in a session', () => {
  const good = new Set(['Bearer first'])
  const startWithLogin = () => {
    good.clear()
    good.add('Bearer first')
    return start({
      respond: ({ headers }, response) =>
        !good.has(headers.authorization ?? '') &&
        json(response, 401, 'log in', { 'www-authenticate': 'Bearer' }),
    })
  }
  const first = { authorization: 'Bearer first' }
  const second = { authorization: 'Bearer second' }

  test('a session goes on with the next token when the server refuses the one before', async () => {
    const { join } = await startWithLogin()
    const { ask } = await join(first)
    good.clear()
    good.add('Bearer second')
    const params = { name: 'plain', arguments: {} }
    expect(textOf(await ask('tools/call', params, second))).toBe('Bearer second')
    expect((await ask('tools/call', params, first)).status).toBe(404)
  })

  test('while the one before is good, the session is not that of another token', async () => {
    const { join } = await startWithLogin()
    const { ask } = await join(first)
    good.add('Bearer second')
    expect((await ask('tools/list', {}, second)).status).toBe(404)
    expect((await ask('tools/list', {})).status).toBe(200)
  })

  test('a token that is refused as well gets the challenge', async () => {
    const { join } = await startWithLogin()
    const { ask } = await join(first)
    good.clear()
    const refused = await ask('tools/list', {}, second)
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })
})

test('log messages reach the call that they belong to, also with several calls of one client', async () => {
  const waiting: (() => void)[] = []
  const { join, server, url } = await start({
    respond({ message: { id, method, params } }, response) {
      if (method !== 'tools/call') return false
      const send = (body: object) =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      waiting.push(() => {
        const _meta = { own: 1 }
        send({ method: 'notifications/message', params: { level: 'info', data: params.name, _meta } })
        send({ id, result: { content: [] } })
      })
      return true
    },
  })
  const { headers, ask } = await join()
  await ask('logging/setLevel', { level: 'debug' })
  const readers = await Promise.all(
    ['one', 'two'].map(name => stream(url, { headers, body: rpc(name, 'tools/call', { name }) })),
  )
  await expect.poll(() => waiting).toHaveLength(2)
  for (const go of waiting) go()
  for (const [n, reader] of readers.entries()) {
    const [log, response] = await reader.rest()
    const name = ['one', 'two'][n]
    expect(log?.json.params).toEqual({ level: 'info', data: name, _meta: { own: 1 } })
    expect(response?.json.id).toBe(name)
  }
  expect(server.received('logging/setLevel')).toEqual([])
})

describe('HTTP+SSE', () => {
  test('a GET of a client of streamable HTTP at a server with sessions is passed on, and asks nothing', async () => {
    const { server, url } = await start({
      respond: ({ message }, response) =>
        message.method === 'initialize' && json(response, 200, { jsonrpc: '2.0', id: 0, result: {} }),
    })
    await open(url)
    const before = server.seen.length
    const headers = { accept: 'text/event-stream', 'mcp-protocol-version': '2025-06-18' }
    expect((await call(url, undefined, headers, 'GET')).status).toBe(405)
    expect(server.seen).toHaveLength(before)
  })

  test('a server gets the query with which the stream was opened', async () => {
    const { server, proxy } = await start()
    const reader = await stream(`${proxy.origin}/sse?key=abc`)
    const endpoint = (await reader.next())?.data ?? ''
    expect((await call(endpoint, rpc(1, 'tools/call', { name: 'plain' }))).status).toBe(202)
    expect((await reader.next())?.json.id).toBe(1)
    expect(server.received('tools/call').map(({ url }) => url)).toEqual(['/mcp?key=abc'])
    reader.close()
  })

  test('its messages are those of the caller who has opened the stream', async () => {
    const { proxy } = await start()
    const headers = { authorization: 'Bearer ann' }
    const reader = await stream(`${proxy.origin}/sse`, { headers })
    const endpoint = (await reader.next())?.data ?? ''
    const ask = (own: Headers) => call(endpoint, rpc(1, 'tools/call', { name: 'plain' }), own)
    expect((await ask({ authorization: 'Bearer eve' })).status).toBe(404)
    expect((await ask(headers)).status).toBe(202)
    reader.close()
  })

  test('a call that a policy refuses gets its response on the stream', async () => {
    const server = await startStatelessServer()
    const proxy = await testProxy({
      target: server.origin,
      middlewares: [
        async () => ({
          name: 'no-calls',
          stage: 'authorize',
          wrap: next => async exchange => {
            const message = await exchange.message()
            if (message && 'method' in message && message.method === 'tools/call')
              return exchange.respond('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"denied"}}')
            return next(exchange)
          },
        }),
      ],
    })
    const reader = await stream(`${proxy.origin}/mcp`)
    const endpoint = (await reader.next())?.data ?? ''
    expect((await call(endpoint, rpc(1, 'tools/call', { name: 'plain' }))).status).toBe(202)
    expect((await reader.next())?.json.error.message).toBe('denied')
    expect(server.received('tools/call')).toEqual([])
    reader.close()
  })
})

describe('headers', () => {
  test('names that are no field values are encoded, and cannot add headers', async () => {
    const { server, join } = await start()
    const { use, ask } = await join()
    const names = ['größe 🙂', 'a\r\nx-injected: 1', ' padded ', '=?base64?eA==?=', '\u0000']
    for (const name of names) expect(textOf(await use(name))).toBe('nobody')
    expect((await ask('resources/read', { uri: 'file:///ä\n' })).json.error.code).toBe(-32601)
    for (const { headers } of server.seen) {
      expect(headers).not.toHaveProperty('x-injected')
      expect(String(headers['mcp-name'] ?? '')).toMatch(/^[\x20-\x7e]*$/)
    }
    expect(server.received('tools/call').map(({ message }) => message.params.name)).toEqual(names)
  })

  test('a method that no header can carry is one that the server does not have', async () => {
    const { server, join } = await start()
    const { ask } = await join()
    await expect.poll(() => server.received('subscriptions/listen')).toHaveLength(1)
    const before = server.seen.length
    for (const method of ['a\nb', 'ä', ' ']) expect((await ask(method)).json.error.code).toBe(-32601)
    expect(server.seen).toHaveLength(before)
  })

  test('a tool whose arguments headers repeat is called at once by who has listed it, and once by who has not', async () => {
    const { server, join } = await start()
    const args = { region: 'Zürich' }
    const one = await join()
    expect(textOf(await one.use('place', args))).toBe('nobody')
    expect(server.received('tools/call')).toHaveLength(2)
    expect(server.received('tools/list')).toHaveLength(1)
    expect(textOf(await one.use('place', args))).toBe('nobody')
    const other = await join()
    await other.ask('tools/list')
    expect(textOf(await other.use('place', args))).toBe('nobody')
    expect(server.received('tools/call')).toHaveLength(4)
    expect(server.received('tools/list')).toHaveLength(2)
  })

  test('a server that goes on to find fault with headers is an error', async () => {
    const { server, join } = await start({
      respond: ({ message }, response) =>
        message.method === 'tools/call' &&
        json(response, 400, { jsonrpc: '2.0', id: message.id, error: { code: -32020, message: 'no' } }),
    })
    const { use } = await join()
    expect((await use('plain')).json.error).toMatchObject({ code: -32603, message: 'no' })
    expect(server.received('tools/call')).toHaveLength(2)
  })
})

describe('servers that misbehave', () => {
  for (const [how, write, expected] of [
    ['a page', [200, 'text/html', '<html>'], 'ended early'],
    ['nothing', [200, 'application/json', ''], 'ended early'],
    ['no content', [202, 'application/json', ''], 'ended early'],
    ['a stream without a response', [200, 'text/event-stream', ': hello\n\ndata: x\n\n'], 'ended early'],
    [
      'the response to another request',
      [200, 'application/json', '{"jsonrpc":"2.0","id":999,"result":{}}'],
      'ended early',
    ],
    ['status 500', [500, 'text/plain', 'oops'], 'status 500'],
    ['status 404', [404, 'text/plain', 'gone'], 'status 404'],
    [
      'an error without an id',
      [400, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"mine"}}'],
      'mine',
    ],
  ] as const) {
    test(`a call to a server that responds with ${how} is an error, and the server goes on`, async () => {
      let isBad = false
      const [status, type, body] = write
      const { join, server } = await start({
        respond({ message }, response) {
          if (!isBad || message.method !== 'tools/call') return false
          response.writeHead(status, { 'content-type': type }).end(body)
          return true
        },
      })
      const { use } = await join()
      isBad = true
      const { json, text } = await use('plain')
      expect(json.error.message, text).toContain(expected)
      isBad = false
      expect(textOf(await use('plain'))).toBe('nobody')
      expect(server.received('tools/call')).toHaveLength(2)
    })
  }

  test('a connection that breaks in a call is an error, and the call is not made again', async () => {
    const { join, server } = await start({
      respond({ message }, response) {
        if (message.method === 'tools/call') response.destroy()
        return message.method === 'tools/call'
      },
    })
    const { json } = await (await join()).use('plain')
    expect(json.error.message).toContain('did not respond')
    expect(server.received('tools/call')).toHaveLength(1)
  })

  test('requests and responses of others that a server sends on the stream of a call reach nobody', async () => {
    const { join, url } = await start({
      respond({ message: { id, method } }, response) {
        if (method !== 'tools/call') return false
        const send = (body: object) =>
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        send({ id: 7, method: 'sampling/createMessage', params: {} })
        send({ id: 12345, result: { not: 'yours' } })
        send({ id, result: { content: [] } })
        return true
      },
    })
    const { headers } = await join({}, { sampling: {} })
    const reader = await stream(url, { headers, body: rpc(1, 'tools/call', { name: 'plain' }) })
    expect(reader.headers['content-type']).toContain('json')
    reader.close()
  })

  test('a stream without an end is cut when its client cancels, and others are served meanwhile', async () => {
    const { join, server, url } = await start({
      respond({ message: { method, params } }, response) {
        if (method !== 'tools/call' || params.name !== 'endless') return false
        const token = params._meta.progressToken
        const line = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1, message: 'x'.repeat(10_000) } })}\n\n`
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const more = () => {
          if (!response.destroyed && response.write(line)) setImmediate(more)
        }
        response.on('drain', more).on('error', () => {})
        more()
        return true
      },
    })
    const { headers, ask } = await join()
    const params = { name: 'endless', arguments: {}, _meta: { progressToken: 't' } }
    const reader = await stream(url, { headers, body: rpc('long', 'tools/call', params) })
    expect((await reader.next())?.json.params.progressToken).toBe('t')
    const other = await join()
    expect(textOf(await other.use('plain'))).toBe('nobody')
    await call(
      url,
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } },
      headers,
    )
    await expect.poll(() => server.received('tools/call')[0]?.isCancelled, { timeout: 10_000 }).toBe(true)
    reader.close()
    expect((await ask('tools/list')).json.result.tools).toHaveLength(2)
  })
})

describe('servers that come and go', () => {
  test('sessions outlive a restart of the server; what was in flight is an error and is not made again', async () => {
    const hold: Respond = ({ message }) => message.method === 'tools/call' && message.params.name === 'held'
    const { join, server, proxy } = await start({ respond: hold })
    const { use } = await join()
    const held = use('held')
    await expect.poll(() => server.received('tools/call')).toHaveLength(1)
    proxy.disconnect('it ended')
    server.close()
    expect((await held).json.error.message).toContain('ended before it responded')
    const next = await startStatelessServer()
    await proxy.connect({ kind: 'http', target: new URL(next.origin), remote: false })
    expect(textOf(await use('plain'))).toBe('nobody')
    expect(next.received('tools/call').map(({ message }) => message.params.name)).toEqual(['plain'])
    await expect.poll(() => next.received('subscriptions/listen')).toHaveLength(1)
  })

  test('a server that is away is an error at once', async () => {
    const { join, server } = await start()
    const { use } = await join()
    server.close()
    expect((await use('plain')).json.error.message).toContain('did not respond')
  })

  test('the end of a session cancels its calls and its subscription', async () => {
    const hold: Respond = ({ message }) => message.method === 'tools/call'
    const { join, server, url } = await start({ respond: hold })
    const { headers, use, ask } = await join()
    const held = use('plain')
    await expect.poll(() => server.received('tools/call')).toHaveLength(1)
    await expect.poll(() => server.received('subscriptions/listen')).toHaveLength(1)
    expect((await call(url, undefined, headers, 'DELETE')).status).toBe(204)
    await held
    await expect.poll(() => server.received('tools/call')[0]?.isCancelled).toBe(true)
    await expect.poll(() => server.received('subscriptions/listen')[0]?.isCancelled).toBe(true)
    expect((await ask('tools/list')).status).toBe(404)
  })

  describe('500 calls of one client', () => {
    const MANY = 500
    const hold: Respond = ({ message }) => message.method === 'tools/call'
    const cancelled = (server: Awaited<ReturnType<typeof start>>['server']) =>
      server.received('tools/call').filter(({ isCancelled }) => isCancelled).length

    async function startMany() {
      const { join, server, url } = await start({ respond: hold })
      const { headers } = await join()
      const requests = Array.from({ length: MANY }, (_, id) => {
        const outgoing = request(url, {
          method: 'POST',
          agent: false,
          headers: {
            ...headers,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
        })
        outgoing.on('error', () => {}).on('response', response => response.resume())
        outgoing.end(JSON.stringify(rpc(id, 'tools/call', { name: 'plain' })))
        return outgoing
      })
      await expect.poll(() => server.received('tools/call'), { timeout: 20_000 }).toHaveLength(MANY)
      return { server, url, headers, requests }
    }

    test('are cancelled when it cancels them', { timeout: 60_000 }, async () => {
      const { server, url, headers } = await startMany()
      for (let requestId = 0; requestId < MANY; requestId++) {
        const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
        expect((await call(url, cancel, headers)).status).toBe(202)
      }
      await expect.poll(() => cancelled(server), { timeout: 10_000 }).toBe(MANY)
    })

    test('are cancelled when it ends its session', { timeout: 60_000 }, async () => {
      const { server, url, headers } = await startMany()
      expect((await call(url, undefined, headers, 'DELETE')).status).toBe(204)
      await expect.poll(() => cancelled(server), { timeout: 10_000 }).toBe(MANY)
    })

    test('go on when its connections break, until it ends its session', { timeout: 60_000 }, async () => {
      const { server, url, headers, requests } = await startMany()
      for (const outgoing of requests) outgoing.destroy()
      // The proxy has seen the ends by the time that it responds to this.
      expect((await call(url, rpc('after', 'ping'), headers)).status).toBe(200)
      expect(cancelled(server)).toBe(0)
      expect((await call(url, undefined, headers, 'DELETE')).status).toBe(204)
      await expect.poll(() => cancelled(server), { timeout: 10_000 }).toBe(MANY)
    })
  })
})

test('an older client in HTTP of its own session is not disturbed by one that initialises', async () => {
  const { url } = await start()
  const [one, two] = [await open(url), await open(url)]
  expect(one.session).not.toBe(two.session)
  expect((await call(url, rpc(1, 'ping', {}), one.headers)).json.result).toEqual({})
})

test('policies change results for a client, which hears of it on a stream that goes on', async () => {
  const server = await startStatelessServer()
  let changed = (_notification: string): void => {}
  const proxy = await testProxy({
    target: server.origin,
    middlewares: [
      async (_config, _listener, { resultsChanged }) => {
        changed = resultsChanged
        return {
          name: 'no-tools',
          stage: 'authorize',
          rewrites: new Map([['tools/list', async () => '{"tools":[]}']]),
          wrap: next => next,
        }
      },
    ],
  })
  const url = `${proxy.origin}/mcp`
  const { headers } = await open(url)
  expect((await call(url, rpc(1, 'tools/list', {}), headers)).json.result).toEqual({ tools: [] })
  const reader = await stream(url, { headers })
  for (const _ of [1, 2]) {
    changed('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    expect((await reader.next())?.json.method).toBe('notifications/tools/list_changed')
  }
  reader.close()
})

test('a session that opens while another server takes over goes on at that one', async () => {
  let letGo = () => {}
  const { server, proxy, initialize, url } = await start({
    config: { protocol: 'stateless' },
    respond({ message }, response) {
      if (message.method !== 'server/discover') return false
      letGo = () => {
        const result = {
          ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
          serverInfo: { name: 'first', version: '1' },
        }
        json(response, 200, { jsonrpc: '2.0', id: message.id, result })
      }
      return true
    },
  })
  const begun = initialize()
  await expect.poll(() => server.received('server/discover').length, { timeout: 30_000 }).toBe(1)
  const next = await startStatelessServer()
  const { signal } = new AbortController()
  const target = new URL(next.origin)
  const candidate = await proxy.checkCandidate(
    { kind: 'http', target, remote: false },
    { timeoutMs: 30_000, signal },
  )
  const promoted = candidate.promote({ graceMs: 30_000, signal })
  letGo()
  const session = { 'mcp-session-id': String((await begun).headers['mcp-session-id']) }
  await promoted
  const use = () => call(url, rpc('a', 'tools/call', { name: 'plain', arguments: {} }), session)
  await expect.poll(async () => (await use()).status, { timeout: 30_000 }).toBe(200)
  const atNext = async () => {
    await use()
    return next.received('tools/call').length
  }
  await expect.poll(atNext, { timeout: 30_000 }).toBeGreaterThan(0)
})
