import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v2 from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { spawnFixture, spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

type Mode = 'streamable-http' | 'sse'

async function everything(mode: Mode = 'streamable-http') {
  const server = spawnOfficial('everything', 'stdio')
  return { server, ...(await startBridge({ attachment: server.attachment, mode })) }
}

async function connect(started: { origin: string; url: string }, mode: Mode, capabilities = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const transport =
    mode === 'sse'
      ? new SSEClientTransport(new URL(`${started.origin}/sse`))
      : new StreamableHTTPClientTransport(new URL(started.url))
  onTestFinished(() => client.close())
  return { client, transport, begin: () => client.connect(transport as Parameters<Client['connect']>[0]) }
}

const text = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text

describe.each<Mode>(['streamable-http', 'sse'])('SDK v1 client over %s against server-everything', mode => {
  test('lists, calls, reads, completes, pings', async () => {
    const started = await everything(mode)
    const { client, begin } = await connect(started, mode)
    await begin()
    expect(client.getServerVersion()?.name).toBe('mcp-servers/everything')
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('echo')
    expect(text(await client.callTool({ name: 'echo', arguments: { message: 'héllo 😀' } }))).toContain(
      'héllo 😀',
    )
    expect((await client.listResources()).resources.length).toBeGreaterThan(0)
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
    await client.ping()
  })

  test('progress', async () => {
    const started = await everything(mode)
    const { client, begin } = await connect(started, mode)
    await begin()
    const seen: number[] = []
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
      undefined,
      { onprogress: progress => seen.push(progress.progress) },
    )
    // The client removes its listener when the response comes in the same chunk as progress.
    expect(seen).toEqual([1, 2, 3].slice(0, Math.max(1, seen.length)))
  })

  test('sampling, elicitation and roots', async () => {
    const started = await everything(mode)
    const { client, begin } = await connect(started, mode, { sampling: {}, elicitation: {}, roots: {} })
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'a sampled answer' },
    }))
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept',
      content: { name: 'Ann', check: true },
    }))
    client.setRequestHandler(ListRootsRequestSchema, async () => ({
      roots: [{ uri: 'file:///r', name: 'my root' }],
    }))
    await begin()
    const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hi' } })
    expect(text(sampled)).toContain('a sampled answer')
    const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    expect(JSON.stringify(elicited)).toContain('Ann')
    expect(text(await client.callTool({ name: 'get-roots-list', arguments: {} }))).toContain('my root')
  })

  test('logging and resource updates', async () => {
    const started = await everything(mode)
    const { client, begin } = await connect(started, mode)
    const logs: string[] = []
    const updates: string[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, note => void logs.push(note.params.level))
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      note => void updates.push(note.params.uri),
    )
    await begin()
    await client.setLoggingLevel('debug')
    await client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
    await expect.poll(() => logs.length).toBeGreaterThan(0)
    const uri = (await client.listResources()).resources[0]?.uri ?? ''
    await client.subscribeResource({ uri })
    await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} })
    await expect.poll(() => updates).toContain(uri)
  })

  test('two clients: each gets its own responses and progress only', async () => {
    const started = await everything(mode)
    const clients = await Promise.all(
      [0, 1].map(async () => {
        const { client, begin } = await connect(started, mode)
        await begin()
        return client
      }),
    )
    const results = await Promise.all(
      clients.map(async (client, index) => {
        const seen: (number | undefined)[] = []
        const steps = index + 2
        await client.callTool(
          { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps } },
          undefined,
          { onprogress: progress => seen.push(progress.total) },
        )
        return { seen, steps }
      }),
    )
    for (const { seen, steps } of results) {
      expect(new Set(seen)).toEqual(new Set([steps]))
      expect(seen.length).toBeGreaterThanOrEqual(steps - 1)
    }
  })
})

describe('SDK v1 client over streamable HTTP', () => {
  test('a cut connection resumes: every progress and the response arrive', async () => {
    const started = await everything()
    const { client, begin, transport } = await connect(started, 'streamable-http')
    await begin()
    const seen: number[] = []
    const tokens: string[] = []
    const result = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 5 } },
      undefined,
      {
        onprogress: progress => {
          seen.push(progress.progress)
          if (seen.length === 2) started.cut()
        },
        onresumptiontoken: token => tokens.push(token),
      },
    )
    expect(text(result)).toContain('completed')
    expect([1, 2, 3, 4, 5].slice(0, Math.max(4, seen.length))).toEqual(seen)
    expect(tokens.length).toBeGreaterThan(1)
    await (transport as StreamableHTTPClientTransport).terminateSession()
  })

  test('cancelling reaches the server, and the client goes on', async () => {
    const started = await everything()
    const { client, begin } = await connect(started, 'streamable-http')
    await begin()
    const abort = new AbortController()
    const call = client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 600 } },
      undefined,
      { signal: abort.signal, onprogress: () => abort.abort('enough') },
    )
    await expect(call).rejects.toThrow('enough')
    expect(text(await client.callTool({ name: 'echo', arguments: { message: 'after' } }))).toContain('after')
  })

  test('server-memory and server-filesystem', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-bridge-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'a.txt'), 'contents of a')
    const files = spawnOfficial('filesystem', folder)
    const filesBridge = await startBridge({ attachment: files.attachment })
    const one = await connect(filesBridge, 'streamable-http')
    await one.begin()
    const read = await one.client.callTool({
      name: 'read_text_file',
      arguments: { path: join(folder, 'a.txt') },
    })
    expect(text(read)).toContain('contents of a')

    const memory = spawnOfficial('memory')
    const memoryBridge = await startBridge({ attachment: memory.attachment })
    const two = await connect(memoryBridge, 'streamable-http')
    await two.begin()
    expect((await two.client.listTools()).tools.map(tool => tool.name)).toContain('read_graph')
  })
})

describe('SDK v2 client', () => {
  const modern = (mode: v2.VersionNegotiationMode) =>
    new v2.Client({ name: 'v2', version: '1' }, { capabilities: {}, versionNegotiation: { mode } })

  test.each(['legacy', 'auto'] as const)('with %s negotiation speaks to a server of 2025', async mode => {
    const started = await everything()
    const client = modern(mode)
    onTestFinished(() => client.close())
    await client.connect(new v2.StreamableHTTPClientTransport(new URL(started.url)))
    const seen: number[] = []
    const result = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
      { onprogress: progress => void seen.push(progress.progress) },
    )
    expect(text(result)).toContain('completed')
    expect(seen[0]).toBe(1)
  })

  test('speaks 2026-07-28 to a server that speaks only that', async () => {
    const server = spawnFixture('modern-only')
    const started = await startBridge({ attachment: server.attachment })
    const client = modern('auto')
    onTestFinished(() => client.close())
    await client.connect(new v2.StreamableHTTPClientTransport(new URL(started.url)))
    expect((await client.listTools()).tools.map(tool => tool.name)).toEqual(['hello'])
    expect(text(await client.callTool({ name: 'hello', arguments: {} }))).toBe('hello')
  })
})
