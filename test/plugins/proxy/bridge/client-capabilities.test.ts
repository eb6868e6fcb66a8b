import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { spawnOfficial } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'
import { start } from './start-clients.ts'

/** An official client with these capabilities; with roots, it has the folders. */
async function connect(url: string, capabilities: Record<string, object>, folders: readonly string[] = []) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  if (capabilities.roots) {
    const roots = folders.map(folder => ({ uri: `file://${folder}` }))
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots }))
  }
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, leave: () => transport.terminateSession() }
}

const toolNames = async ({ client }: { client: Client }) =>
  (await client.listTools()).tools.map(({ name }) => name)

describe('a server is told of', () => {
  test('nothing that its only client cannot do', async () => {
    const server = spawnOfficial('everything', 'stdio')
    const { url } = await startBridge({ attachment: server.attachment })
    const names = await toolNames(await connect(url, { sampling: {} }))
    expect(names).toContain('trigger-sampling-request')
    expect(names).not.toContain('trigger-elicitation-request')
    expect(names).not.toContain('get-roots-list')
  })

  test('exactly what its first client says, also what is unknown', async () => {
    const { server, url } = await start()
    const said = { experimental: { x: 1 }, sampling: { more: true }, elicitation: {}, newer: [1] }
    await open(url, said)
    expect((await server.take('initialize')).message.params.capabilities).toEqual(said)
  })

  test('nothing by keelson itself', async () => {
    const { server, url } = await start()
    void call(url, rpc(1, 'tools/list')).catch(() => {})
    expect((await server.take('initialize')).message.params.capabilities).toEqual({})
  })

  test('what one of the connected clients has, when its next process starts', async () => {
    const { server, url, bridge } = await start()
    await open(url, { sampling: {} })
    await open(url, { elicitation: {}, roots: { listChanged: true } })
    const gone = await open(url, { tasks: {} })
    await open(url, { elicitation: { url: {} } })
    await call(url, undefined, gone.headers, 'DELETE')
    const next = createPuppet()
    server.die()
    await bridge.connect(next.attachment)
    expect((await next.take('initialize')).message.params.capabilities).toEqual({
      sampling: {},
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
    })
  })

  test('what its next first client says, where no client was connected to the process before', async () => {
    const { server, url, bridge } = await start()
    const { headers } = await open(url, { sampling: {} })
    await call(url, undefined, headers, 'DELETE')
    const next = createPuppet()
    server.die()
    await bridge.connect(next.attachment)
    await open(url, { roots: {} })
    expect((await next.take('initialize')).message.params.capabilities).toEqual({ roots: {} })
    await next.take('notifications/initialized')
  })
})

describe('roots', () => {
  test('are those of the client that is there now, not those of the first', async () => {
    const folder = await realpath(await temporaryFolder())
    const [given, first, second] = ['given', 'first', 'second'].map(name => join(folder, name))
    for (const path of [given, first, second]) await mkdir(path ?? '')
    const server = spawnOfficial('filesystem', given ?? '')
    const { url } = await startBridge({ attachment: server.attachment })
    const allowed = async ({ client }: { client: Client }) =>
      JSON.stringify(await client.callTool({ name: 'list_allowed_directories', arguments: {} }))
    const roots = { listChanged: true }
    const a = await connect(url, { roots }, [first ?? ''])
    await expect.poll(() => allowed(a)).toContain(first)
    await a.leave()
    const b = await connect(url, { roots }, [second ?? ''])
    await expect.poll(() => allowed(b)).toContain(second)
    expect(await allowed(b)).not.toContain(first)
  })

  test('have changed when a client with roots comes or goes', async () => {
    const { server, url } = await start()
    const changes = () => server.received('notifications/roots/list_changed').length
    await open(url, { roots: { listChanged: true } })
    await open(url)
    expect(changes()).toBe(0)
    const { headers } = await open(url, { roots: {} })
    await expect.poll(changes).toBe(1)
    await call(url, undefined, headers, 'DELETE')
    await expect.poll(changes).toBe(2)
  })

  test('are not said to change to a server that was told of no such changes', async () => {
    const { server, url } = await start()
    await open(url, { roots: {} })
    await open(url, { roots: { listChanged: true } })
    await call(url, { jsonrpc: '2.0', method: 'notifications/mark' })
    await server.take('notifications/mark')
    expect(server.received('notifications/roots/list_changed')).toEqual([])
  })

  test('of one client are not those of a call of another', async () => {
    const { server, join, url, mark } = await start()
    const [a, b] = [await join({ roots: {} }), await join()]
    void call(url, rpc(1, 'tools/call'), b.headers).catch(() => {})
    await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: 9, method: 'roots/list' })
    expect((await server.take(line => line.message.id === 9)).message.error.code).toBe(-32601)
    expect(await mark(a.reader)).toEqual([[]])
  })
})

describe.each(['streamable-http', 'sse'] as const)('capabilities of a hostile client over %s', mode => {
  const deep = `${'{"a":'.repeat(20_000)}{}${'}'.repeat(20_000)}`
  const initialize = (capabilities: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":${capabilities}}}`

  test('that are too long to be kept are refused', async () => {
    const { endpoint, server } = await begin(mode)
    for (const capabilities of [`{"x":${deep}}`, `{"x":{"y":"${'z'.repeat(20_000)}"}}`]) {
      const answer = await call(endpoint, initialize(capabilities))
      expect(answer).toMatchObject({ status: 400, json: { error: { code: -32602 } } })
    }
    expect(server.received('initialize')).toEqual([])
  })

  test('that are nested deep end nothing, also when the server starts again', async () => {
    const { endpoint, server, bridge } = await begin(mode)
    const nested = `{"sampling":{},"x":${'{"a":'.repeat(2000)}{}${'}'.repeat(2000)}}`
    expect((await call(endpoint, initialize(nested))).status).toBeLessThan(300)
    await server.take('initialize')
    server.die()
    const next = createPuppet()
    await bridge.connect(next.attachment)
    expect((await next.take('initialize')).message.params.capabilities.sampling).toEqual({})
  })
})

async function begin(mode: 'streamable-http' | 'sse') {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment, mode })
  if (mode === 'streamable-http') return { server, ...started, endpoint: started.url }
  const events = await stream(`${started.origin}/sse`)
  return { server, ...started, endpoint: String((await events.next())?.data) }
}
