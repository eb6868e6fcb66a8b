import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, open, rpc } from './raw-client.ts'
import { spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

// Clients of revisions with sessions, before a server that speaks 2026-07-28 only.
type Mode = 'streamable-http' | 'sse'

async function connect(mode: Mode, capabilities = {}) {
  const server = spawnFixture('asking-modern')
  const started = await startBridge({ attachment: server.attachment, mode })
  const client = new Client({ name: 'old', version: '7' }, { capabilities })
  const transport =
    mode === 'sse'
      ? new SSEClientTransport(new URL(`${started.origin}/sse`))
      : new StreamableHTTPClientTransport(new URL(started.url))
  onTestFinished(() => client.close())
  return { client, begin: () => client.connect(transport as Parameters<Client['connect']>[0]) }
}

const text = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text
const able = { sampling: {}, elicitation: {}, roots: {} }

describe.each<Mode>(['streamable-http', 'sse'])('SDK v1 client over %s', mode => {
  test('it gets a session, lists tools, calls and pings', async () => {
    const { client, begin } = await connect(mode)
    await begin()
    expect(client.getServerVersion()).toMatchObject({ name: 'asking', version: '1.0.0' })
    expect(client.getInstructions()).toBe('ask away')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('test_logging_tool')
    expect(text(await client.callTool({ name: 'test_logging_tool' }))).toBe('logged')
    await client.ping()
  })

  test('its requests name its version, its capabilities and itself', async () => {
    const { client, begin } = await connect(mode, able)
    await begin()
    const meta = JSON.parse(text(await client.callTool({ name: 'meta' })) ?? '')
    expect(meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'old', version: '7' },
      'io.modelcontextprotocol/clientCapabilities': able,
    })
  })

  test('it is asked for input, a sample and roots, in several rounds', async () => {
    const { client, begin } = await connect(mode, able)
    const asked: string[] = []
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { name: 'Ann', color: 'red' } }
    })
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'hello' },
    }))
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r' }] }))
    await begin()
    const several = text(await client.callTool({ name: 'test_input_required_result_multiple_inputs' }))
    for (const part of ['several', 'Ann', 'hello', 'file:///r']) expect(several).toContain(part)
    asked.length = 0
    const rounds = text(await client.callTool({ name: 'test_input_required_result_multi_round' }))
    expect(asked).toEqual(['What is your name?', 'What is your favourite color?'])
    expect(rounds).toContain('steps')
    const prompt = await client.getPrompt({ name: 'test_input_required_result_prompt' })
    expect(JSON.stringify(prompt.messages)).toContain('Ann')
  })

  test('it hears of progress, and of logs once it has set a level', async () => {
    const { client, begin } = await connect(mode)
    const logs: unknown[] = []
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logs.push(params.data),
    )
    await begin()
    await client.callTool({ name: 'test_logging_tool' })
    await client.setLoggingLevel('info')
    await client.callTool({ name: 'test_logging_tool' })
    await expect.poll(() => logs).toEqual(['only for those who ask'])
    const seen: number[] = []
    await client.callTool({ name: 'progress' }, undefined, {
      onprogress: ({ progress }) => void seen.push(progress),
    })
    expect(seen.slice(0, 2)).toEqual([1, 2])
  })

  test('what it cannot be asked for is an error', async () => {
    const { client, begin } = await connect(mode, { elicitation: {} })
    await begin()
    await expect(client.callTool({ name: 'test_input_required_result_sampling' })).rejects.toThrow(/sampling/)
    await expect(client.callTool({ name: 'test_missing_capability' })).rejects.toThrow(/sampling|capabilit/i)
  })
})

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['1999-01-01', '2025-11-25'],
])('a client that asks for %s gets %s', async (asked, agreed) => {
  const { url } = await startBridge({ attachment: spawnFixture('asking-modern').attachment })
  const { result, headers } = await open(url, {}, asked)
  expect(result.protocolVersion).toBe(agreed)
  const listed = await call(url, rpc(1, 'tools/list'), { ...headers, 'mcp-protocol-version': agreed })
  expect(listed.json.result.tools.length).toBeGreaterThan(0)
})
