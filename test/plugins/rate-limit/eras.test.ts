import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished, test } from 'vitest'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { startEverything, startFixture } from '../../support/mcp-fixtures/start-server.ts'
import { spawnFixture, spawnOfficial } from '../proxy/bridge/spawn-server.ts'
import { limitedProxy } from './limit-world.ts'

const rate_limit_config = { tools: [{ name: 'echo', shared: { maxTokens: 2, refillPeriod: '1h' } }] }

interface Caller {
  listTools(): Promise<{ tools: unknown[] }>
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
}

/** Calls the tool until its bucket is empty, and what has no bucket after that. */
async function useUp(
  client: Caller,
  other: { name: string; arguments: Record<string, unknown> },
): Promise<void> {
  const echo = () => client.callTool({ name: 'echo', arguments: { message: 'hi', text: 'hi' } })
  await echo()
  await echo()
  await expect(echo()).rejects.toThrow(/429|Rate limit exceeded/)
  expect((await client.listTools()).tools).not.toHaveLength(0)
  await client.callTool(other)
}

async function connected(transport: Transport): Promise<Caller> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client as Caller
}

const SUM = { name: 'get-sum', arguments: { a: 1, b: 2 } }

test.each([
  ['stdio', 'streamable-http'],
  ['stdio', 'sse'],
  ['streamable-http', 'streamable-http'],
  ['sse', 'sse'],
] as const)('official clients get the error of a rate, with a %s server over %s', async (transport, mode) => {
  const config: Partial<RunConfig> = { transport, proxy_mode: mode, rate_limit_config }
  let target: string | undefined
  if (transport !== 'stdio') {
    const server = await startEverything(transport === 'sse' ? 'sse' : 'streamableHttp')
    onTestFinished(() => server.kill())
    target = server.origin
  }
  const proxy = await limitedProxy(config, target === undefined ? {} : { target })
  if (transport === 'stdio') {
    await proxy.connect({ kind: 'stdio', attachment: spawnOfficial('everything').attachment })
  }
  const url = new URL(proxy.url)
  const way = mode === 'sse' ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url)
  await useUp(await connected(way as Transport), SUM)
})

test('a client of 2026-07-28 gets the error of a rate, with an HTTP server of its era', async () => {
  const server = await startFixture('http-server-modern.ts')
  onTestFinished(() => server.kill())
  const proxy = await limitedProxy({ rate_limit_config }, { target: server.origin })
  const client = new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new Http2(new URL(proxy.url)))
  onTestFinished(() => client.close())
  await useUp(client as unknown as Caller, { name: 'region', arguments: { region: 'here' } })
})

test('a client of 2026-07-28 gets the error of a rate, with a stdio server of its era', async () => {
  const hello = { tools: [{ name: 'hello', perUser: { maxTokens: 1, refillPeriod: '1h' } }] }
  const proxy = await limitedProxy({ transport: 'stdio', rate_limit_config: hello })
  await proxy.connect({ kind: 'stdio', attachment: spawnFixture('modern-only').attachment })
  const client = new Client2({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new Http2(new URL(proxy.url)))
  onTestFinished(() => client.close())
  await client.callTool({ name: 'hello', arguments: {} })
  await expect(client.callTool({ name: 'hello', arguments: {} })).rejects.toThrow(/429|Rate limit exceeded/)
  expect((await client.listTools()).tools).toHaveLength(1)
})
