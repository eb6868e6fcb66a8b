import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { OpenProxy } from '../../../plugins/proxy/open-proxy.ts'
import { modernParams } from './bridge/modern-client.ts'
import { call, type EventReader, open, rpc, stream } from './bridge/raw-client.ts'
import { startLegacyServer } from './legacy-http/legacy-server.ts'
import { startStatelessServer } from './stateless-http/stateless-server.ts'
import { testProxy } from './test-proxy.ts'

// Calls that are translated for clients of the other era or transport, when another server replaces an HTTP server.

const signal = new AbortController().signal

async function promote(proxy: OpenProxy, origin: string, graceMs = 60_000) {
  const candidate = await proxy.checkCandidate(
    { kind: 'http', target: new URL(origin), remote: false },
    { timeoutMs: 30_000, signal },
  )
  const state = { isOver: false }
  const over = candidate.promote({ graceMs, signal }).then(() => {
    state.isOver = true
  })
  // Meanwhile, what waits for nothing is over.
  for (let n = 0; n < 3; n++) await call(`${origin}/mcp`, rpc(n, 'ping'))
  return { state, over }
}

/** Holds calls of the tool `held` until the test lets them go. */
function holding() {
  const held: (() => void)[] = []
  const respond = (
    {
      message: { method, id, params },
    }: { message: { method: string; id: unknown; params?: { name: string } } },
    response: ServerResponse,
  ) => {
    if (method !== 'tools/call' || params?.name !== 'held') return false
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'held long' }] }
    held.push(() =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result })),
    )
    return true
  }
  return { held, respond }
}

const toolCall = (id: unknown, name: string) => rpc(id, 'tools/call', { name, arguments: {} })

/** A client of 2026-07-28. */
const ask = (proxy: { origin: string }, id: unknown, name: string, params: object = {}) =>
  call(
    `${proxy.origin}/mcp`,
    rpc(id, 'tools/call', modernParams({ name, ...params }, { capabilities: { elicitation: {} } })),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  )

/** A client of HTTP+SSE with a session. */
async function openSse(proxy: { origin: string }) {
  const reader = await stream(`${proxy.origin}/sse`, { headers: { accept: 'text/event-stream' } })
  const endpoint = (await reader.next())?.data ?? ''
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'sse', version: '1' },
  }
  await call(endpoint, rpc(0, 'initialize', params))
  await reader.next()
  await call(endpoint, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return { reader, use: (id: unknown, name: string) => call(endpoint, toolCall(id, name)) }
}

const textOf = ({ json }: { json: { result: { content: { text: string }[] } } }) =>
  json.result.content[0]?.text
const nextText = async (reader: EventReader) => textOf((await reader.next()) ?? { json: {} as never })

test('a call of a newer client ends at the legacy server that took it', async () => {
  const { held, respond } = holding()
  const proxy = await testProxy({ target: (await startLegacyServer({ respond })).origin })
  const slow = ask(proxy, 1, 'held')
  await expect.poll(() => held).toHaveLength(1)
  const next = await startLegacyServer()
  const { state, over } = await promote(proxy, next.origin)
  const later = textOf(await ask(proxy, 2, 'plain'))
  expect(next.sessions).toContain(later)
  expect(state.isOver).toBe(false)
  held[0]?.()
  expect(textOf(await slow)).toBe('held long')
  await over
})

test('a call that waits for input of a newer client goes on at the legacy server that asks', async () => {
  const proxy = await testProxy({ target: (await startLegacyServer()).origin })
  const { result } = (await ask(proxy, 1, 'ask')).json
  const next = await startLegacyServer()
  const { state, over } = await promote(proxy, next.origin)
  expect(state.isOver).toBe(false)
  const [key = ''] = Object.keys(result.inputRequests)
  const inputResponses = { [key]: { action: 'decline' } }
  const done = await ask(proxy, 2, 'ask', { inputResponses, requestState: result.requestState })
  expect(textOf(done)).toContain('decline')
  await over
  expect(next.received('tools/call')).toEqual([])
})

test('a call of an older client ends at the stateless server that took it, and its session goes on', async () => {
  const { held, respond } = holding()
  const proxy = await testProxy({ target: (await startStatelessServer({ respond })).origin })
  const url = `${proxy.origin}/mcp`
  const { headers } = await open(url)
  const slow = call(url, toolCall(1, 'held'), headers)
  await expect.poll(() => held).toHaveLength(1)
  const next = await startStatelessServer()
  const { state, over } = await promote(proxy, next.origin)
  expect(state.isOver).toBe(false)
  held[0]?.()
  expect(textOf(await slow)).toBe('held long')
  await over
  expect(textOf(await call(url, toolCall(2, 'plain'), headers))).toBe('nobody')
  expect(next.received('tools/call')).toHaveLength(1)
})

test('a call over HTTP+SSE ends at the legacy server that took it, and its session goes on', async () => {
  const { held, respond } = holding()
  const first = await startLegacyServer({ respond })
  const proxy = await testProxy({ target: first.origin })
  const { reader, use } = await openSse(proxy)
  await use(1, 'held')
  await expect.poll(() => held).toHaveLength(1)
  const next = await startLegacyServer()
  const { state, over } = await promote(proxy, next.origin)
  expect(state.isOver).toBe(false)
  held[0]?.()
  expect(await nextText(reader)).toBe('held long')
  await over
  await use(2, 'plain')
  expect(next.sessions).toContain(await nextText(reader))
  await expect.poll(() => first.seen.some(({ method }) => method === 'DELETE')).toBe(true)
  reader.close()
})

test('a session over HTTP+SSE ends after its call where the next server is stateless', async () => {
  const { held, respond } = holding()
  const proxy = await testProxy({ target: (await startLegacyServer({ respond })).origin })
  const { reader, use } = await openSse(proxy)
  await use(1, 'held')
  await expect.poll(() => held).toHaveLength(1)
  const { state, over } = await promote(proxy, (await startStatelessServer()).origin)
  expect(state.isOver).toBe(false)
  held[0]?.()
  expect(await nextText(reader)).toBe('held long')
  expect(await reader.next()).toBeUndefined()
  await over
})

test('what takes longer than the grace is an error', async () => {
  const { held, respond } = holding()
  const proxy = await testProxy({ target: (await startLegacyServer({ respond })).origin })
  const { reader, use } = await openSse(proxy)
  const slow = ask(proxy, 1, 'held')
  await use(1, 'held')
  await expect.poll(() => held).toHaveLength(2)
  const { over } = await promote(proxy, (await startLegacyServer()).origin, 50)
  await over
  expect((await reader.next())?.json.error.message).toContain('ended before it responded')
  expect((await slow).json.error.code).toBeLessThan(0)
  reader.close()
})
