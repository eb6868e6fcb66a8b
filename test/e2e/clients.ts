import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished } from 'vitest'

/** The official client of the first SDK, connected until the test ends unless it is the caller's to close. */
export async function clientV1(
  url: string,
  prepare: (client: ClientV1) => void = () => {},
  { closes = true } = {},
) {
  const client = new ClientV1({ name: 'e2e', version: '1' }, { capabilities: {} })
  prepare(client)
  await client.connect(new HttpV1(new URL(url), { fetch: fetchTellingStatus }) as Transport)
  if (closes) onTestFinished(() => client.close())
  return client
}

/** The SDK's error quotes the body alone, so a refusal without one would say nothing. */
async function fetchTellingStatus(input: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  // A server need not offer the stream that GET opens.
  if (response.ok || init?.method === 'GET') return response
  const text = await response.text()
  const { status, headers } = response
  return new Response(text || `status ${status} without a body`, { status, headers })
}

/** The official client of the second SDK, which speaks either era. */
export async function clientV2(url: string) {
  const client = new ClientV2({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new HttpV2(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

/** The text of a tool's answer. */
export const textOf = (result: unknown): string =>
  (result as { content: { text?: string }[] }).content.map(({ text = '' }) => text).join('\n')

/**
 * What a call over `proxy stdio` returns whose supervisor was killed just before. Each connection that is open may
 * still take one call while the killed process ends; no other call may fail.
 */
export async function untilSent(call: () => Promise<string>, connections = 4): Promise<string> {
  try {
    return await call()
  } catch (error) {
    expect((error as Error).message).toContain('The connection to the workload was lost')
    if (connections === 0) throw error
    return untilSent(call, connections - 1)
  }
}
