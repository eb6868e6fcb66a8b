import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type RunningServer,
  startEverything,
  startFixture,
} from '../../../support/mcp-fixtures/start-server.ts'
import { connectModern, expectLogsOfRequest, textOf } from '../official-modern-client.ts'
import { testProxy } from '../test-proxy.ts'

const servers: Record<string, RunningServer> = {}

beforeAll(async () => {
  const [streamable, sse, conformance] = await Promise.all([
    startEverything('streamableHttp'),
    startEverything('sse'),
    startFixture('http-server-2025.ts'),
  ])
  Object.assign(servers, { streamable, sse, conformance })
})
afterAll(() => Promise.all(Object.values(servers).map(server => server.kill())))

/** A client of 2026-07-28, and nothing else, before one of the servers. */
async function connect(
  name: string,
  capabilities: ClientCapabilities = {},
  prepare = (_client: Client) => {},
) {
  const transport = name === 'sse' ? 'sse' : 'streamable-http'
  const proxy = await testProxy({ target: servers[name]?.origin ?? '', config: { transport } })
  return connectModern(proxy.url, capabilities, prepare)
}

describe.each(['streamable', 'sse'])('a client of 2026-07-28 before server-everything over %s', name => {
  test('lists, calls, reads, completes, and gets errors', async () => {
    const client = await connect(name)
    expect(client.getServerVersion()?.name).toBe('mcp-servers/everything')
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('echo')
    const said = await client.callTool({ name: 'echo', arguments: { message: 'größer → 🙂' } })
    expect(textOf(said)).toContain('größer → 🙂')
    const uri = (await client.listResources()).resources[0]?.uri ?? ''
    expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri)
    await expect(client.readResource({ uri: 'no:such' })).rejects.toMatchObject({ code: -32602 })
  })

  test('gets progress while the call runs', async () => {
    const client = await connect(name)
    const seen: number[] = []
    const result = await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.8, steps: 4 } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    )
    expect(textOf(result)).toContain('completed')
    expect(seen.slice(0, 3)).toEqual([1, 2, 3])
  })

  test('is asked for sampling, elicitation of forms and URLs, and roots', async () => {
    const client = await connect(
      name,
      { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
      asked => {
        asked.setRequestHandler('sampling/createMessage', () => ({
          model: 'm',
          role: 'assistant' as const,
          content: { type: 'text' as const, text: 'a sampled answer' },
        }))
        asked.setRequestHandler('elicitation/create', ({ params }) => ({
          action: 'accept' as const,
          ...(params.mode === 'url' ? {} : { content: { name: 'Ann', check: true } }),
        }))
        asked.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///r', name: 'my root' }] }))
      },
    )
    const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hi' } })
    expect(textOf(sampled)).toContain('a sampled answer')
    const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    expect(JSON.stringify(elicited)).toContain('Ann')
    expect(textOf(await client.callTool({ name: 'get-roots-list', arguments: {} }))).toContain('my root')
    const url = { url: 'https://a.example/', message: 'Log in', errorPath: true }
    const opened = await client.callTool({ name: 'trigger-url-elicitation', arguments: url })
    expect(textOf(opened)).toContain('User completed the URL elicitation flow')
  })

  test('hears of updates of resources', async () => {
    const client = await connect(name)
    const updates: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updates.push(params.uri)
    })
    const uri = (await client.listResources()).resources[0]?.uri ?? ''
    const subscription = await client.listen({ resourceSubscriptions: [uri] })
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
    await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} })
    await expect.poll(() => updates).toContain(uri)
    await subscription.close()
  })
})

test('log messages of a request, and only those', async () => {
  await expectLogsOfRequest(await connect('conformance'))
})
