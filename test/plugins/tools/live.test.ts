import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { ToolControl } from '../../../plugins/tools/tool-controls.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import { type RunningServer, startEverything, startFixture } from '../../support/mcp-fixtures/start-server.ts'
import { testProxy, until } from '../proxy/test-proxy.ts'

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

const servers: Record<string, RunningServer> = {}
beforeAll(async () => {
  const [http, sse, modern] = await Promise.all([
    startEverything('streamableHttp'),
    startEverything('sse'),
    startFixture('http-server-modern.ts'),
  ])
  Object.assign(servers, { http, sse, modern })
})
afterAll(() => Promise.all(Object.values(servers).map(server => server.kill())))

function attach(): Attachment {
  const child = spawn(process.execPath, [everything, 'stdio'], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit').then(() => ({}))
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach: () => {} }
}

const KINDS = {
  'stdio over streamable HTTP': { transport: 'stdio' },
  'stdio over SSE': { transport: 'stdio', proxy_mode: 'sse' },
  'streamable HTTP': { transport: 'streamable-http' },
  SSE: { transport: 'sse' },
} as const

async function open(config: (typeof KINDS)[keyof typeof KINDS]) {
  const controls = new Map<string, ToolControl>()
  const target = (config.transport === 'sse' ? servers.sse : servers.http)?.origin ?? ''
  const proxy = await testProxy({
    middlewares: [toolsMiddleware(controls)],
    config,
    ...(config.transport === 'stdio' ? {} : { target }),
  })
  if (config.transport === 'stdio') await proxy.connect({ kind: 'stdio', attachment: attach() })
  await proxy.ready({ timeoutMs: 60_000, ping: true })
  return { proxy, control: controls.get('test') as ToolControl }
}

async function connect(url: string, isSse: boolean): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = isSse
    ? new SSEClientTransport(new URL(url))
    : new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  return client
}

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test('a change counts at once, in sessions and on streams opened before', async () => {
    const { proxy, control } = await open(kind)
    const client = await connect(proxy.url, proxy.url.includes('/sse'))
    let told = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++)
    const names = async () => (await client.listTools()).tools.map(({ name }) => name)
    const all = await names()
    expect(all).toEqual(expect.arrayContaining(['echo', 'get-sum']))
    expect((await control.listTools({}))?.map(({ name }) => name).toSorted()).toEqual(all.toSorted())

    control.select({ tools_filter: ['say'], tools_override: { echo: { name: 'say' } } })
    expect(await names()).toEqual(['say'])
    await expect(client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })).rejects.toThrow(
      'Unknown tool',
    )
    const said = await client.callTool({ name: 'say', arguments: { message: 'still here' } })
    expect(JSON.stringify(said)).toContain('still here')
    // The list of the proxy itself is not filtered.
    expect((await control.listTools({}))?.length).toBe(all.length)

    // The client of streamable HTTP opens its stream on its own time.
    await until(() => {
      if (told === 0) control.select({ tools_filter: ['echo'] })
      return told > 0
    })
    control.select({})
    expect((await names()).toSorted()).toEqual(all.toSorted())
  })
})
