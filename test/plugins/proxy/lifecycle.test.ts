import { describe, expect, test } from 'vitest'
import { type MiddlewareFactory, STAGES, type Stage } from '../../../src/contracts/pipeline.ts'
import { post, rpc, testProxy, testServer, until } from './test-proxy.ts'

const ok = () => testServer((_request, response) => response.end('{}'))
const http = (target: string) => ({ kind: 'http', target: new URL(target), remote: false }) as const

describe('without a server', () => {
  test('a request waits for it', async () => {
    const proxy = await testProxy({ wait: { waitMs: 5000, maxWaiting: 4 } })
    const waiting = post(`${proxy.origin}/mcp`, rpc('ping', 1))
    await proxy.connect(http(await ok()))
    expect((await waiting).status).toBe(200)
  })

  test('one that waited in vain gets the reason and Retry-After', async () => {
    const proxy = await testProxy({ target: await ok(), wait: { waitMs: 50, maxWaiting: 4 } })
    proxy.disconnect('it crashed with code 3')
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 'x'))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(await answer.json()).toMatchObject({
      id: 'x',
      error: { message: expect.stringContaining('code 3') },
    })
  })

  test('only so many may wait', async () => {
    const proxy = await testProxy({ wait: { waitMs: 5000, maxWaiting: 1 } })
    const asked = [1, 2].map(id => post(`${proxy.origin}/mcp`, rpc('ping', id)))
    expect((await Promise.race(asked)).status).toBe(503)
    await proxy.connect(http(await ok()))
    expect((await Promise.all(asked)).map(answer => answer.status).sort()).toEqual([200, 503])
  })

  test('what was under way when it went gets an error at once', async () => {
    let asked = false
    const proxy = await testProxy({
      target: await testServer(() => {
        asked = true
      }),
    })
    const call = post(`${proxy.origin}/mcp`, rpc('tools/call', 5))
    await until(() => asked)
    proxy.disconnect('killed')
    const answer = await call
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      id: 5,
      error: { message: expect.stringContaining('killed') },
    })
  })
})

describe('health', () => {
  test('is that of the server, with the time it took', async () => {
    const proxy = await testProxy({ target: await ok() })
    const answer = await fetch(`${proxy.origin}/health`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      status: 'healthy',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      transport: 'streamable-http',
      mcp: { available: true, response_time_ms: expect.any(Number), last_checked: expect.any(String) },
    })
  })

  test.each([
    ['answers 500', () => testServer((_request, response) => response.writeHead(500).end())],
    ['does not listen', async () => 'http://127.0.0.1:1'],
  ])('a server that %s is unhealthy: 503', async (_what, target) => {
    const proxy = await testProxy({ target: await target() })
    const answer = await fetch(`${proxy.origin}/health`)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      status: 'unhealthy',
      mcp: { available: false, error: expect.any(String) },
    })
  })

  test('many askers cost the server one request', async () => {
    let asked = 0
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        asked++
        response.end()
      }),
    })
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${proxy.origin}/health`)))
    expect(asked).toBe(1)
  })

  test('POST is not how one asks', async () => {
    const proxy = await testProxy({ target: await ok() })
    expect((await post(`${proxy.origin}/health`, '{}')).status).toBe(405)
  })
})

test.each([
  ['/metrics', 'text/plain', /not enabled/],
  ['/.well-known/oauth-protected-resource', 'application/json', /^\{"error":"not_found"\}$/],
  ['/.well-known/oauth-protected-resource/mcp?x=1', 'application/json', /not_found/],
])('%s is ours and never the server’s', async (path, type, text) => {
  const proxy = await testProxy({ target: await ok() })
  const answer = await fetch(`${proxy.origin}${path}`)
  expect(answer.status).toBe(404)
  expect(answer.headers.get('content-type')).toContain(type)
  expect(await answer.text()).toMatch(text)
})

describe('the pipeline', () => {
  const tracing =
    (trace: string[], stage: Stage): MiddlewareFactory =>
    async () => ({
      name: stage,
      stage,
      wrap: next => exchange => {
        trace.push(stage)
        return next(exchange)
      },
    })

  test('runs in the order of the stages, whoever came first', async () => {
    const trace: string[] = []
    const middlewares = STAGES.toReversed().map(stage => tracing(trace, stage))
    const proxy = await testProxy({ target: await ok(), middlewares })
    await post(`${proxy.origin}/mcp`, rpc('ping', 1))
    expect(trace).toEqual(STAGES)
  })

  test('well-known paths pass no stage after their own', async () => {
    const trace: string[] = []
    const middlewares = (['method', 'guard', 'well-known', 'audit', 'authorize'] as const).map(stage =>
      tracing(trace, stage),
    )
    const proxy = await testProxy({ target: await ok(), middlewares })
    await fetch(`${proxy.origin}/.well-known/x`)
    expect(trace).toEqual(['audit', 'guard', 'well-known'])
  })

  test('an error in a middleware is logged, and the client gets "Internal error"', async () => {
    const broken: MiddlewareFactory = async () => ({
      name: 'broken',
      stage: 'authorize',
      wrap: () => () => {
        throw new TypeError('secret detail')
      },
    })
    const proxy = await testProxy({ target: await ok(), middlewares: [broken] })
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1))
    expect(answer.status).toBe(500)
    expect(await answer.text()).toBe('{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}')
    expect(proxy.logged.join()).toContain('secret detail')
  })

  test('a middleware that cannot be made leaves no listener behind', async () => {
    let port = 0
    const failing: MiddlewareFactory = async (_config, listener) => {
      port = listener.port
      throw new Error('no policy file')
    }
    await expect(testProxy({ middlewares: [failing] })).rejects.toThrow('no policy file')
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow()
  })
})

describe('opening and closing', () => {
  test('a port in use fails with its number', async () => {
    const first = await testProxy()
    await expect(testProxy({ config: { port: first.port } })).rejects.toMatchObject({
      code: 'port_busy',
      message: expect.stringContaining(String(first.port)),
    })
  })

  test('an address of another machine fails', async () => {
    await expect(testProxy({ config: { host: '192.0.2.1' } })).rejects.toMatchObject({
      code: 'host_unusable',
    })
  })

  test('closing lets a call finish, and takes no new one', async () => {
    let finish: (() => void) | undefined
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        finish = () => void response.end('{"done":true}')
      }),
    })
    const call = post(`${proxy.origin}/mcp`, rpc('tools/call', 1))
    await until(() => finish !== undefined)
    const closed = proxy.close({ graceMs: 5000 })
    await expect(fetch(`${proxy.origin}/mcp`)).rejects.toThrow()
    finish?.()
    expect(await (await call).json()).toEqual({ done: true })
    await closed
  })

  test('closing ends an open event stream properly', async () => {
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: 1\n\n')
      }),
    })
    const answer = await fetch(`${proxy.origin}/mcp`)
    await proxy.close({ graceMs: 5000 })
    expect(await answer.text()).toBe('data: 1\n\n')
  })

  test('closing does not wait for a call longer than its grace', async () => {
    let asked = false
    const proxy = await testProxy({
      target: await testServer(() => {
        asked = true
      }),
    })
    const call = post(`${proxy.origin}/mcp`, rpc('tools/call', 8))
    await until(() => asked)
    await proxy.close({ graceMs: 50 })
    expect(await (await call).json()).toMatchObject({ id: 8, error: { code: -32000 } })
  })
})

describe('ready', () => {
  test('waits until the server responds as an MCP server, and closes the session it opened', async () => {
    let asked = 0
    const methods: string[] = []
    const proxy = await testProxy({
      target: await testServer((request, response) => {
        methods.push(`${request.method} ${request.url}`)
        asked++
        if (asked < 3) response.writeHead(503).end()
        else response.writeHead(200, { 'mcp-session-id': 'probe' }).end('{}')
      }),
    })
    await proxy.ready({ timeoutMs: 5000 })
    expect(methods).toEqual(['POST /mcp', 'POST /mcp', 'POST /mcp', 'DELETE /mcp'])
  })

  test.each([
    ['wants credentials', 401, ''],
    [
      'knows only newer revisions',
      400,
      '{"jsonrpc":"2.0","id":"keelson-init-check","error":{"code":-32022,"message":"no"}}',
    ],
  ])('a server that %s is there', async (_what, status, body) => {
    const proxy = await testProxy({
      target: await testServer((_request, response) => response.writeHead(status).end(body)),
    })
    await proxy.ready({ timeoutMs: 1000 })
  })

  test('an SSE server is ready when its stream opens', async () => {
    const proxy = await testProxy({
      config: { transport: 'sse' },
      target: await testServer((request, response) =>
        request.url === '/sse'
          ? response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hi\n\n')
          : response.writeHead(404).end(),
      ),
    })
    await proxy.ready({ timeoutMs: 1000 })
  })

  test('one that never is fails with what it did instead', async () => {
    const proxy = await testProxy({
      target: await testServer((_request, response) => response.writeHead(404).end('nope')),
    })
    await expect(proxy.ready({ timeoutMs: 300 })).rejects.toMatchObject({
      code: 'backend_not_ready',
      message: 'test did not respond as an MCP server within 0.3 seconds: POST /mcp returned status 404.',
    })
  })

  test('one that does not listen fails with that', async () => {
    const proxy = await testProxy({ target: 'http://127.0.0.1:1' })
    await expect(proxy.ready({ timeoutMs: 200 })).rejects.toThrow('does not accept connections')
  })

  test('waiting can be called off', async () => {
    const proxy = await testProxy({ target: 'http://127.0.0.1:1' })
    const signal = AbortSignal.abort(new Error('stopped by the user'))
    await expect(proxy.ready({ timeoutMs: 60_000, signal })).rejects.toThrow('stopped by the user')
  })
})
