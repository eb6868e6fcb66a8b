import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { testProxy } from '../proxy/test-proxy.ts'
import { attachEverything, connect, everythingServers } from './everything-servers.ts'

const servers = everythingServers()

const SELECTION: Partial<RunConfig> = {
  tools_filter: ['say', 'get-*'],
  tools_deny: ['get-env'],
  tools_override: {
    echo: { name: 'say', description: 'Says it.' },
    'get-sum': { fixed_arguments: { b: 40 } },
    'get-tiny-image': { name: 'tiny' },
  },
}

const KINDS = {
  'stdio over streamable HTTP': { transport: 'stdio' },
  'stdio over SSE': { transport: 'stdio', proxy_mode: 'sse' },
  'streamable HTTP': { transport: 'streamable-http' },
  SSE: { transport: 'sse' },
  'a remote server': { transport: 'streamable-http', remote_url: 'used' },
} as const

async function open(config: Partial<RunConfig>) {
  const { transport } = config
  const origin = (transport === 'sse' ? servers.sse : servers.http)?.origin
  const target = config.remote_url ? `${origin}/mcp` : origin
  const proxy = await testProxy({
    middlewares: [toolsMiddleware()],
    config: { ...config, ...(config.remote_url ? { remote_url: target ?? '' } : {}) },
    ...(transport === 'stdio' || target === undefined ? {} : { target }),
  })
  if (transport === 'stdio') await proxy.connect({ kind: 'stdio', attachment: attachEverything() })
  await proxy.ready({ timeoutMs: 60_000, ping: true })
  return proxy
}

const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join()

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test('shows, renames and hides tools, for lists and calls alike', async () => {
    const proxy = await open({ ...kind, ...SELECTION })
    const isSse = proxy.url.includes('/sse')
    const client = await connect(proxy.url, isSse)
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['say', 'get-sum']))
    expect(names.filter(name => !/^(say|get-.*)$/.test(name) || /^get-(env|tiny.*)$/.test(name))).toEqual([])
    expect(tools.find(({ name }) => name === 'say')).toMatchObject({
      description: 'Says it.',
      inputSchema: { properties: { message: { type: 'string' } } },
    })
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({
      properties: { a: { type: 'number' } },
      required: ['a'],
    })

    const call = (name: string, args: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: args })
    expect(textOf(await call('say', { message: 'größer' }))).toContain('größer')
    expect(textOf(await call('get-sum', { a: 2 }))).toContain('42')
    for (const name of ['echo', 'get-env', 'get-tiny-image', 'tiny', 'no-such', 'toggle-simulated-logging']) {
      await expect(call(name)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(`Unknown tool: ${name}`),
      })
    }
    await expect(call('get-sum', { a: 2, b: 3 })).rejects.toMatchObject({ code: -32602 })
    // The session goes on.
    expect(textOf(await call('say', { message: 'still' }))).toContain('still')
  })
})

test('clients of 2026-07-28 see the same, and the headers name the real tool', async () => {
  const proxy = await testProxy({
    middlewares: [toolsMiddleware()],
    target: servers.modern?.origin ?? '',
    config: { tools_filter: ['say', 'region'], tools_override: { echo: { name: 'say' } } },
  })
  const client = new ModernClient(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  await client.connect(new ModernHttp(new URL(`${proxy.origin}/mcp`)))
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['say', 'region'])
  expect(JSON.stringify(await client.callTool({ name: 'say', arguments: { text: 'hi' } }))).toContain('hi')
  await expect(client.callTool({ name: 'echo', arguments: { text: 'hi' } })).rejects.toThrow(
    'Unknown tool: echo',
  )
})
