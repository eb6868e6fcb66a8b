import { statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { Handler, MiddlewareFactory, Stage } from '../../../src/contracts/pipeline.ts'
import { post, rpc, sendRaw, testServer, until } from '../proxy/test-proxy.ts'
import { auditedProxy } from './audited-proxy.ts'

const json = (value: unknown) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
const events = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
const respondWith = (respond: (response: ServerResponse) => void) =>
  testServer((request, response) => void request.resume().on('end', () => respond(response)))
const result = { jsonrpc: '2.0', id: 1, result: { content: [] } }
const call = (more: object = {}) => rpc('tools/call', 1, { name: 'read', arguments: {}, ...more })

/** A middleware of a stage. */
const middleware =
  (stage: Stage, wrap: (next: Handler) => Handler): MiddlewareFactory =>
  async () => ({ name: stage, stage, wrap })

test('a call is one line of JSON in a file that only its owner can read', async () => {
  const proxy = await auditedProxy({ target: await respondWith(json(result)), audit: { component: 'mine' } })
  const headers = { 'user-agent': 'a\u0085b', 'x-request-id': 'r-1', authorization: 'Bearer abcdefghijkl' }
  await (await post(`${proxy.url}?token=hidden`, call(), headers)).text()

  const user = userInfo().username
  expect(proxy.events()).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'AUDIT',
      msg: 'audit_event',
      audit_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'mcp_tool_call',
      logged_at: expect.stringMatching(/Z$/),
      outcome: 'success',
      component: 'mine',
      source: {
        type: 'network',
        value: '127.0.0.1',
        extra: { user_agent: expect.any(String), request_id: 'r-1' },
      },
      subjects: { user: `Local User: ${user}`, user_id: user },
      target: { endpoint: '/mcp', method: 'tools/call', name: 'read', type: 'tool' },
      metadata: {
        extra: {
          transport: 'http',
          backend_name: 'test',
          duration_ms: expect.any(Number),
          http_status: 200,
          response_size_bytes: JSON.stringify(result).length,
          jsonrpc_id: 1,
        },
      },
    },
  ])
  expect(statSync(proxy.path).mode & 0o777).toBe(0o600)
})

describe('the outcome of a call', () => {
  const error = { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no such tool' } }
  const told = { jsonrpc_error_code: -32602, jsonrpc_error_message: 'no such tool' }
  const progress = {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 1, progress: 1 },
  }
  const long = 'x'.repeat(10_000)
  test.each<[string, string, (response: ServerResponse) => void, object]>([
    ['application_error', 'a JSON-RPC error', json(error), told],
    [
      'application_error',
      'a long JSON-RPC error',
      json({ ...error, error: { ...error.error, data: long } }),
      told,
    ],
    [
      'application_error',
      'a JSON-RPC error behind other events',
      events(
        `: hello\r\n\r\ndata: ${JSON.stringify(progress)}\r\n\r\ndata: ${JSON.stringify(error)}\r\n\r\n`,
      ),
      told,
    ],
    [
      'application_error',
      'a tool that failed',
      json({ ...result, result: { isError: true } }),
      { tool_error: true },
    ],
    ['success', 'an event', events(`event: message\ndata: ${JSON.stringify(result)}\n\n`), {}],
    [
      'success',
      'a text that looks like an error',
      json({ ...result, result: { text: '"error":{"code":1}' } }),
      {},
    ],
    ['success', 'a long result', json({ ...result, result: { text: long, error: { code: 1 } } }), {}],
    ['failure', 'a status of 404', response => void response.writeHead(404).end('{}'), { http_status: 404 }],
    ['denied', 'a status of 403', response => void response.writeHead(403).end('{}'), { http_status: 403 }],
    ['error', 'a status of 500', response => void response.writeHead(500).end('{}'), { http_status: 500 }],
    ['error', 'a server that breaks off', response => void response.destroy(), { http_status: 502 }],
  ])('is %s for %s', async (outcome, _, respond, extra) => {
    const proxy = await auditedProxy({ target: await respondWith(respond) })
    await (await post(proxy.url, call())).text()
    expect(proxy.events()).toEqual([expect.objectContaining({ outcome })])
    expect(proxy.events()[0]?.metadata.extra).toMatchObject(extra)
  })

  test('is denied where a later stage says so, with its policies', async () => {
    const denying = middleware('authorize', () => async exchange => {
      await exchange.message()
      exchange.decision = { isAllowed: false, policies: ['p1'] }
      exchange.response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(error))
    })
    const proxy = await auditedProxy({ target: await respondWith(json(result)), middlewares: [denying] })
    await (await post(proxy.url, call())).text()
    expect(proxy.events()).toEqual([expect.objectContaining({ outcome: 'denied', type: 'mcp_tool_call' })])
    expect(proxy.events()[0]?.metadata.extra.decision).toEqual({ allowed: false, policies: ['p1'] })
  })

  test('is cancelled when the client goes away', async () => {
    let arrived = false
    const target = await testServer(request => void request.resume().on('end', () => (arrived = true)))
    const proxy = await auditedProxy({ target })
    const gone = new AbortController()
    const waiting = fetch(proxy.url, { method: 'POST', body: call(), signal: gone.signal }).catch(
      () => 'gone',
    )
    await until(() => arrived)
    gone.abort()
    expect(await waiting).toBe('gone')
    await expect.poll(proxy.events).toMatchObject([{ outcome: 'cancelled' }])
    expect(proxy.events()[0]?.metadata.extra.ended).toBe('client')
  })

  test('is cancelled when the client says so', async () => {
    const held: ServerResponse[] = []
    const target = await testServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      if (text.includes('"tools/call"')) held.push(response)
      else response.writeHead(200, { 'mcp-session-id': 's' }).end()
    })
    const proxy = await auditedProxy({ target })
    const session = { 'mcp-session-id': 's' }
    await post(proxy.url, rpc('initialize', 0))
    const waiting = post(proxy.url, call(), session)
    await until(() => held.length === 1)
    await post(proxy.url, rpc('notifications/cancelled', undefined, { requestId: 1 }), session)
    held[0]?.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(error))
    await (await waiting).text()
    expect(proxy.events().map(({ type, outcome }) => [type, outcome])).toEqual([
      ['mcp_initialize', 'success'],
      ['mcp_notification', 'success'],
      ['mcp_tool_call', 'cancelled'],
    ])
  })

  test('is cancelled when a client without a session says so, if it is the only one with that id', async () => {
    const held: ServerResponse[] = []
    const target = await testServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      if (text.includes('"tools/call"')) held.push(response)
      else response.writeHead(202).end()
    })
    const proxy = await auditedProxy({ target })
    const cancel = () => post(proxy.url, rpc('notifications/cancelled', undefined, { requestId: 1 }))
    const respond = () => {
      for (const one of held.splice(0))
        one.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(error))
    }
    const outcomes = () =>
      proxy.events().flatMap(({ type, outcome }) => (type === 'mcp_tool_call' ? [outcome] : []))

    const alone = post(proxy.url, call())
    await until(() => held.length === 1)
    await cancel()
    respond()
    await (await alone).text()
    expect(outcomes()).toEqual(['cancelled'])

    const both = [post(proxy.url, call()), post(proxy.url, call())]
    await until(() => held.length === 2)
    await cancel()
    respond()
    for (const one of both) await (await one).text()
    expect(outcomes().slice(1)).toEqual(['application_error', 'application_error'])
  })
})

describe('requests that never reach the server', () => {
  test.each([
    ['of another site', 'denied', { origin: 'https://evil.example' }, call(), 403],
    ['with a repeated member', 'failure', {}, call().replace('{', '{"id":2,'), 400],
  ])('are recorded: %s', async (_, outcome, headers, body, status) => {
    let reached = 0
    const target = await respondWith(response => {
      reached++
      response.end('{}')
    })
    const proxy = await auditedProxy({ target })
    expect((await post(proxy.url, body, headers as Record<string, string>)).status).toBe(status)
    expect(proxy.events()).toMatchObject([{ type: 'http_request', outcome, target: { method: 'POST' } }])
    expect(reached).toBe(0)
  })

  test('are anonymous, and questions for the state of the proxy leave no line', async () => {
    const proxy = await auditedProxy({ target: await respondWith(json(result)) })
    await fetch(`${proxy.origin}/health`)
    await fetch(`${proxy.origin}/.well-known/x`)
    await post(proxy.url, call(), { origin: 'https://evil.example' })
    expect(proxy.events()).toMatchObject([{ subjects: { user: 'anonymous' } }])
  })
})

test('the caller of a later stage is named, with who acts for them', async () => {
  const caller: Caller = {
    subject: 'ada',
    issuer: 'https://login.example',
    claims: { email: 'ada@corp.example', azp: 'editor' },
    actors: ['a', 'b', 'c'].map(subject => ({ subject, issuer: 'https://i.example' })),
  }
  const login = middleware('authenticate', next => exchange => {
    exchange.caller = caller
    return next(exchange)
  })
  const proxy = await auditedProxy({
    target: await respondWith(json(result)),
    audit: { maxDelegationDepth: 2 },
    middlewares: [login],
  })
  await (await post(proxy.url, rpc('initialize', 1, { clientInfo: { name: 'ed', version: '2' } }))).text()
  expect(proxy.events()).toMatchObject([
    {
      type: 'mcp_initialize',
      subjects: {
        ...{ user: 'ada@corp.example', user_id: 'ada', issuer: 'https://login.example', client_id: 'editor' },
        ...{ client_name: 'ed', client_version: '2' },
      },
      delegation: {
        chain: [
          { iss: 'https://i.example', sub: 'a' },
          { iss: 'https://i.example', sub: 'b' },
        ],
        truncated: true,
        omitted: 1,
      },
    },
  ])
})

test('a long stream has an event when it begins and one when it ends', async () => {
  const streams: ServerResponse[] = []
  const target = await testServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
    streams.push(response)
  })
  const proxy = await auditedProxy({ target })
  const response = await fetch(proxy.url, { headers: { accept: 'text/event-stream' } })
  expect(proxy.events()).toMatchObject([{ type: 'sse_connection', phase: 'open', outcome: 'success' }])
  streams[0]?.end('data: {}\n\n')
  await response.text()
  const [open, end] = proxy.events()
  expect(end).toMatchObject({
    ...{ type: 'sse_connection', phase: 'end', outcome: 'success', audit_id: open?.audit_id },
    target: { type: 'sse_endpoint', method: 'GET' },
    metadata: { extra: { response_size_bytes: 19 } },
  })
})

describe('data', () => {
  const all = { includeRequestData: true, includeResponseData: true }
  const secret = 'very-hidden-value'
  const args = {
    path: '/etc',
    password: secret,
    nested: [{ Api_Key: { a: secret } }],
    note: `Bearer ${secret}`,
  }
  const answer = { ...result, result: { access_token: secret, text: 'shown' } }

  test('is recorded where that is asked for, without secrets', async () => {
    const proxy = await auditedProxy({ target: await respondWith(json(answer)), audit: all })
    await (await post(proxy.url, call({ arguments: args }))).text()
    const [event] = proxy.events()
    expect(event?.data).toEqual({
      request: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          name: 'read',
          arguments: {
            ...{ path: '/etc', password: '[redacted]', note: 'Bearer [redacted]' },
            nested: [{ Api_Key: '[redacted]' }],
          },
        },
      },
      response: { jsonrpc: '2.0', id: 1, result: { access_token: '[redacted]', text: 'shown' } },
    })
    expect(JSON.stringify(event)).not.toContain(secret)
  })

  test('is cut where it is too long, and says so', async () => {
    const text = `é\u001b[31m\u009b\u202e${'y'.repeat(500)}`
    const proxy = await auditedProxy({
      target: await respondWith(events(`data: ${JSON.stringify({ ...result, result: { text } })}\n\n`)),
      audit: { ...all, maxDataSize: 160 },
    })
    await (await post(proxy.url, call({ arguments: { password: secret, text } }))).text()
    const [event] = proxy.events()
    expect(event?.data).toMatchObject({
      request: { params: { arguments: { password: '[redacted]', text: expect.stringMatching(/^é.*…$/) } } },
      request_cut: true,
      request_bytes: expect.any(Number),
      response: [{ result: { text: expect.stringMatching(/…$/) } }],
      response_cut: true,
    })
  })

  test('and names of strangers stay one line that steers no terminal', async () => {
    const proxy = await auditedProxy({ target: await respondWith(json(answer)), audit: all })
    const name = 'a\u0000\n\r\u001b]0;x\u0007\u0085\u009b31m\u2028\u202e\ud800'
    await (await post(proxy.url, rpc('tools/call', '\n\u009b', { name }))).text()
    const { readFileSync } = await import('node:fs')
    const text = readFileSync(proxy.path, 'utf8')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(text.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/)
    expect(proxy.events()[0]?.target.name).toContain('\u001b]0;x')
  })
})

test('each message of a batch over HTTP+SSE has an event', async () => {
  const target = await testServer(
    (request, response) => void request.resume().on('end', () => response.writeHead(202).end()),
  )
  const proxy = await auditedProxy({ target, config: { transport: 'sse' } })
  const body = `[${rpc('tools/call', 1, { name: 'drop' })},${rpc('ping', 2)},7]`
  expect((await post(`${proxy.origin}/messages`, body)).status).toBe(202)
  const many = Array.from({ length: 1001 }, (_, n) => rpc('ping', n))
  expect((await post(`${proxy.origin}/messages`, `[${many.join(',')}]`)).status).toBe(202)
  const events = proxy.events()
  expect(events.slice(0, 3)).toMatchObject([
    {
      type: 'mcp_tool_call',
      target: { name: 'drop' },
      metadata: { extra: { jsonrpc_id: 1, batch_index: 0 } },
    },
    { type: 'mcp_ping', metadata: { extra: { jsonrpc_id: 2, batch_index: 1 } } },
    { type: 'http_request', metadata: { extra: { batch_index: 2 } } },
  ])
  expect(events).toHaveLength(3 + 1000 + 1)
  expect(events.at(-1)?.type).toBe('http_request')
})

test('lists of types say what is recorded', async () => {
  const proxy = await auditedProxy({
    target: await respondWith(json(result)),
    audit: { eventTypes: ['mcp_tool_call', 'mcp_ping'], excludeEventTypes: ['mcp_ping'] },
  })
  for (const method of ['ping', 'tools/list', 'tools/call'])
    await (await post(proxy.url, rpc(method, 1))).text()
  expect(proxy.events().map(({ type }) => type)).toEqual(['mcp_tool_call'])
})

test('hostile requests leave lines that can be read, and the proxy serves on', async () => {
  const proxy = await auditedProxy({
    target: await respondWith(json(result)),
    audit: { includeRequestData: true },
  })
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${'['.repeat(5000)}${']'.repeat(5000)}}}`
  for (const body of [
    deep,
    rpc('tools/call', 1, { name: { toString: 1 }, uri: [] }),
    rpc('__proto__', 1, { __proto__: { a: 1 } }),
    '{"jsonrpc":"2.0","id":1e400,"method":"constructor"}',
    '{"jsonrpc":"2.0","id":"\\ud800","method":"tools/call","params":{"name":"\\ud800"}}',
    '\u{feff}{}',
    'null',
  ])
    await (await post(proxy.url, body)).text()
  await sendRaw(
    proxy.port,
    'POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 99999999\r\n\r\n',
  )
  await new Promise<void>(resolve => {
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write(`POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${proxy.port}\r\ncontent-length: 50\r\n\r\n{"a`)
    socket.on('close', () => resolve()).on('data', () => {})
    setImmediate(() => socket.destroy())
  })
  expect((await post(proxy.url, call())).status).toBe(200)
  expect(proxy.events().length).toBeGreaterThanOrEqual(9)
  expect(proxy.logged.filter(line => line.includes('internal error'))).toEqual([])
})
