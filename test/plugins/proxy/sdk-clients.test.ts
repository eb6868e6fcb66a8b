import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RunningServer, startEverything, startFixture } from '../../support/mcp-fixtures/start-server.ts'
import { testProxy } from './test-proxy.ts'

const servers: Record<string, RunningServer> = {}

beforeAll(async () => {
  const [streamable, sse, modern] = await Promise.all([
    startEverything('streamableHttp'),
    startEverything('sse'),
    startFixture('http-server-modern.ts'),
  ])
  Object.assign(servers, { streamable, sse, modern })
})
afterAll(() => Promise.all(Object.values(servers).map(server => server.kill())))

const originOf = (name: string) => servers[name]?.origin ?? ''

const textOf = (result: unknown): string =>
  (result as { content: { type: string; text: string }[] }).content.map(item => item.text).join('\n')

async function connected(transport: Transport, prepare: (client: Client) => void = () => {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { sampling: {} } })
  prepare(client)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

const streamableTo = (url: string) => new StreamableHTTPClientTransport(new URL(url)) as Transport

describe.each(['streamable', 'sse'] as const)('SDK v1 client and server-everything over %s', kind => {
  const open = async (prepare?: (client: Client) => void) => {
    const proxy = await testProxy({
      target: originOf(kind),
      config: { transport: kind === 'sse' ? 'sse' : 'streamable-http' },
    })
    await proxy.ready({ timeoutMs: 10_000 })
    const transport = kind === 'sse' ? new SSEClientTransport(new URL(proxy.url)) : streamableTo(proxy.url)
    return connected(transport, prepare)
  }

  test('lists and calls tools', async () => {
    const client = await open()
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('echo')
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'größer → 🙂' } }))).toContain(
      'größer → 🙂',
    )
  })

  test('progress arrives while the call runs, every message of it', async () => {
    const client = await open()
    const seen: unknown[] = []
    // Read before the SDK, which drops a notification that arrives together with the response.
    const { transport } = client
    const deliver = transport?.onmessage
    if (!transport || !deliver) throw new Error('the client is not connected')
    transport.onmessage = message => {
      if ('method' in message && message.method === 'notifications/progress')
        seen.push(message.params?.progress)
      if ('result' in message) seen.push('result')
      deliver(message)
    }
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } },
      undefined,
      { onprogress: () => undefined },
    )
    expect(seen).toEqual([1, 2, 3, 4, 'result'])
  })

  test('the server can ask the client to sample', async () => {
    const client = await open(client =>
      client.setRequestHandler(CreateMessageRequestSchema, async () => ({
        model: 'm',
        role: 'assistant' as const,
        content: { type: 'text' as const, text: 'sampled text' },
      })),
    )
    const result = await client.callTool({
      name: 'trigger-sampling-request',
      arguments: { prompt: 'hello', maxTokens: 10 },
    })
    expect(textOf(result)).toContain('sampled text')
  })

  test('log messages arrive', async () => {
    let logged: (message: unknown) => void = () => {}
    const arrived = new Promise<unknown>(resolve => {
      logged = resolve
    })
    const client = await open(client =>
      client.setNotificationHandler(LoggingMessageNotificationSchema, message => logged(message)),
    )
    await client.setLoggingLevel('debug')
    await client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
    expect(await arrived).toMatchObject({ method: 'notifications/message' })
  })
})

test('a client of SDK v1 does not notice that its server was killed and started again', async () => {
  const first = await startEverything('streamableHttp')
  const proxy = await testProxy({ target: first.origin, wait: { waitMs: 15_000, maxWaiting: 8 } })
  const client = await connected(streamableTo(proxy.url))
  await client.callTool({ name: 'echo', arguments: { message: 'before' } })

  await first.kill()
  proxy.disconnect('the server was killed')
  const waiting = client.callTool({ name: 'echo', arguments: { message: 'after' } })
  const second = await startEverything('streamableHttp')
  onTestFinished(() => second.kill())
  await proxy.connect({ kind: 'http', target: new URL(second.origin), remote: false })

  expect(textOf(await waiting)).toContain('after')
})

test('a call under way when its server is killed fails at once', async () => {
  const server = await startEverything('streamableHttp')
  const proxy = await testProxy({ target: server.origin })
  const client = await connected(streamableTo(proxy.url))
  let started: () => void = () => {}
  const running = new Promise<void>(resolve => {
    started = resolve
  })
  const call = client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
    undefined,
    { onprogress: () => started(), maxTotalTimeout: 20_000 },
  )
  call.catch(() => {})
  await running
  await server.kill()
  const outcome = await call.then(
    () => 'finished',
    (error: Error) => error.message,
  )
  expect(outcome).toContain('The server went away')
})

describe('SDK v2', () => {
  test('a client of today uses a session server', async () => {
    const proxy = await testProxy({ target: originOf('streamable') })
    const client = new Client2({ name: 'test', version: '1' })
    await client.connect(new Http2(new URL(proxy.url)))
    onTestFinished(() => client.close())
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))).toContain('hi')
  })

  test.each([false, true])('the stateless revision passes (declared stateless: %s)', async stateless => {
    const proxy = await testProxy({ target: originOf('modern'), config: { stateless } })
    await proxy.ready({ timeoutMs: 10_000 })
    const client = new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new Http2(new URL(proxy.url)))
    onTestFinished(() => client.close())
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }))).toBe('modern: hi')
  })

  // Where a server is declared stateless, the GET with which such a client listens gets 405.
  test.each([false, true])(
    'a client of the session era uses a server of both eras (declared stateless: %s)',
    async stateless => {
      const proxy = await testProxy({ target: originOf('modern'), config: { stateless } })
      const listened = await fetch(proxy.url, { headers: { accept: 'text/event-stream' } })
      await listened.body?.cancel()
      if (stateless) expect(listened.status).toBe(405)
      const client = await connected(streamableTo(proxy.url))
      expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hi' } }))).toBe('legacy: hi')
    },
  )
})
