import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished } from 'vitest'

/** The SDK's client, which speaks 2026-07-28 and nothing else. It closes when the test is over. */
export async function connectModern(
  url: string,
  capabilities: ClientCapabilities = {},
  prepare = (_client: Client) => {},
): Promise<Client> {
  const client = new Client(
    { name: 'modern', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  prepare(client)
  onTestFinished(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  expect(client.getProtocolEra()).toBe('modern')
  return client
}

/** The text of what a tool returned. */
export const textOf = (result: unknown): string =>
  (result as { content: { text?: string }[] }).content.map(item => item.text ?? '').join('\n')

/** Asserts that the fixture `conformance` logs to a request that names a level, and to no other. */
export async function expectLogsOfRequest(client: Client): Promise<void> {
  const logs: unknown[] = []
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params.data))
  const call = (meta: Record<string, unknown>) =>
    client.callTool({ name: 'test_tool_with_logging', arguments: {}, _meta: meta })
  await call({})
  expect(logs).toEqual([])
  await call({ 'io.modelcontextprotocol/logLevel': 'info' })
  expect(logs.length).toBeGreaterThan(0)
}
