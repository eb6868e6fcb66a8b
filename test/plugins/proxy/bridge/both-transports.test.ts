import { existsSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toolsMiddleware } from '../../../../plugins/tools/middleware.ts'
import { startClientProcess } from '../../../e2e/matrix/client-process.ts'
import { needs } from '../../../support/left-out.ts'
import { testProxy, until } from '../test-proxy.ts'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const PYTHON = `${process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'}/python-sdk-1/bin/python`
const CLIENT = new URL('../../../../fixtures/eras/python-client.py', import.meta.url).pathname

async function start(options: Partial<Parameters<typeof startBridge>[0]> = {}) {
  const server = createPuppet()
  return { server, ...(await startBridge({ attachment: server.attachment, ...options })) }
}

/** Opens a stream of HTTP+SSE; returns where its messages go. */
async function join(url: string, headers: Record<string, string> = {}) {
  const reader = await stream(url, { headers: { accept: 'text/event-stream', ...headers } })
  return { reader, messages: (await reader.next())?.data ?? '' }
}

describe.each(['streamable-http', 'sse'] as const)('with --proxy-mode %s', proxy_mode => {
  const everything = () =>
    startBridge({ attachment: spawnOfficial('everything', 'stdio').attachment, config: { proxy_mode } })

  test.each(['/mcp', '/sse'])('SDK clients of both transports share the server at %s', async path => {
    const { origin } = await everything()
    const url = new URL(`${origin}${path}`)
    const transports = [new SSEClientTransport(url), new StreamableHTTPClientTransport(url)]
    const texts = await Promise.all(
      transports.map(async (transport, n) => {
        const client = new Client({ name: 'test', version: '1' })
        onTestFinished(() => client.close())
        await client.connect(transport as Parameters<Client['connect']>[0])
        const result = await client.callTool({ name: 'echo', arguments: { message: `I am ${n}` } })
        return JSON.stringify(result)
      }),
    )
    expect(texts).toEqual([expect.stringContaining('I am 0'), expect.stringContaining('I am 1')])
  })

  test.for(['/mcp', '/sse'])('so do the clients of Python at %s', async (path, context) => {
    const { origin } = await everything()
    needs(context, existsSync(PYTHON) ? undefined : `${PYTHON} is missing`)
    const clients = startClientProcess(PYTHON, [CLIENT])
    onTestFinished(() => clients.kill())
    const url = new URL(`${origin}${path}`)
    for (const over of ['sse', 'streamable-http'] as const) {
      const client = await clients.connect('2025-11-25', url, over)
      expect((await client.call('echo', { message: `über ${over}` })).text).toContain(`über ${over}`)
      await client.close()
    }
  })
})

test('a session is of one transport: its id opens nothing in the other', async () => {
  const { url, origin, server } = await start()
  const { headers } = await open(url)
  const { reader, messages } = await join(url)
  const session_id = new URL(messages).searchParams.get('session_id') ?? ''
  const crossed = { 'mcp-session-id': session_id }

  const posted = await call(
    `${origin}/messages?session_id=${headers['mcp-session-id']}`,
    rpc(1, 'tools/list'),
  )
  expect(posted.status).toBe(404)
  expect((await call(url, rpc(1, 'tools/list'), crossed)).status).toBe(404)
  expect((await call(url, undefined, { ...crossed, accept: 'text/event-stream' }, 'GET')).status).toBe(404)
  expect((await call(url, undefined, crossed, 'DELETE')).status).toBe(404)
  expect(server.received('tools/list')).toEqual([])
  // Both sessions are still there.
  expect((await call(messages, rpc(2, 'tools/list'))).status).toBe(202)
  expect((await call(url, undefined, headers, 'DELETE')).status).toBe(204)
  reader.close()
})

test('a session of another caller does not exist', async () => {
  const { url } = await start({ callers: true })
  const { messages } = await join(url, { caller: 'ada' })
  expect((await call(messages, rpc(1, 'ping'), { caller: 'bob' })).status).toBe(404)
  expect((await call(messages, rpc(1, 'ping'))).status).toBe(404)
  expect((await call(messages, rpc(1, 'ping'), { caller: 'ada' })).status).toBe(202)
})

test('a GET without a session has to take events', async () => {
  const { url } = await start()
  expect((await call(url, undefined, { accept: 'text/html' }, 'GET')).status).toBe(406)
})

test('one caller who opens thousands of streams takes half of the places, and gives them back', async () => {
  const { url, bridge } = await start({ limits: { maxSessions: 200 } })
  const { headers } = await open(url)
  const opened = await Promise.all(
    Array.from({ length: 2000 }, () => stream(url, { headers: { accept: 'text/event-stream' } })),
  )
  const refused = opened.filter(({ status }) => status === 503)
  expect(opened.filter(({ status }) => status === 200)).toHaveLength(99)
  expect(refused).toHaveLength(1901)
  expect(refused.every(one => one.headers['retry-after'] === '60')).toBe(true)
  // Whoever has a session goes on.
  expect((await call(url, { jsonrpc: '2.0', method: 'notifications/x' }, headers)).status).toBe(202)
  for (const one of opened) one.close()
  await until(async () => {
    const again = await stream(url, { headers: { accept: 'text/event-stream' } })
    again.close()
    return again.status === 200
  })
  expect(bridge.health().status).toBe('healthy')
})

test('tools that are hidden stay hidden over both, without --proxy-mode sse', async () => {
  const server = createPuppet()
  const proxy = await testProxy({
    config: { transport: 'stdio', tools_filter: ['shown'] },
    middlewares: [toolsMiddleware()],
  })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const { reader, messages } = await join(`${proxy.origin}/sse`)
  expect((await call(messages, rpc(1, 'tools/call', { name: 'hidden' }))).status).toBe(202)
  expect((await reader.next())?.json).toMatchObject({ id: 1, error: { code: -32602 } })
  expect((await call(`${proxy.origin}/mcp`, rpc(2, 'tools/call', { name: 'hidden' }))).json).toMatchObject({
    id: 2,
    error: { code: -32602 },
  })
  await call(messages, rpc(3, 'tools/list'))
  const { message } = await server.take('tools/list')
  server.send({ jsonrpc: '2.0', id: message.id, result: { tools: [{ name: 'shown' }, { name: 'hidden' }] } })
  expect((await reader.next())?.json.result.tools).toEqual([{ name: 'shown' }])
  reader.close()
})

test.each([
  ['an origin of elsewhere', { origin: 'https://evil.example' }],
  ['a host of elsewhere', { host: 'evil.example' }],
])('%s is refused at all paths', async (_what, headers) => {
  const proxy = await testProxy({ config: { transport: 'stdio' } })
  await proxy.connect({ kind: 'stdio', attachment: createPuppet().attachment })
  for (const [method, path] of [
    ['GET', '/mcp'],
    ['GET', '/sse'],
    ['POST', '/messages?session_id=1'],
  ] as const) {
    const body = method === 'POST' ? rpc(1, 'ping') : undefined
    const answer = await call(
      `${proxy.origin}${path}`,
      body,
      { accept: 'text/event-stream', ...headers },
      method,
    )
    expect(answer.status).toBe(403)
  }
})

test('the prefix holds, whatever the mode', async () => {
  const proxy = await testProxy({ config: { transport: 'stdio', endpoint_prefix: '/servers/a' } })
  await proxy.connect({ kind: 'stdio', attachment: createPuppet().attachment })
  const { reader, messages } = await join(`${proxy.origin}/mcp`)
  expect(messages).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/servers\/a\/messages\?session_id=/)
  reader.close()
})
