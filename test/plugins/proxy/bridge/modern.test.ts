import { describe, expect, test } from 'vitest'
import { modernHeaders, modernParams } from './modern-client.ts'
import { createPuppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

const VERSION = '2026-07-28'
const tool = { name: 'x' }
const toolCall = {
  body: rpc(1, 'tools/call', modernParams(tool)),
  headers: modernHeaders('tools/call', tool),
}

/** A server that knows no `initialize`. */
async function startModern() {
  const server = createPuppet({ initialize: false, tools: [] })
  const started = await startBridge({ attachment: server.attachment, limits: { requestTimeoutMs: 1000 } })
  const first = call(
    started.url,
    rpc('d', 'server/discover', modernParams()),
    modernHeaders('server/discover'),
  )
  const { message } = await server.take('ping')
  server.send({ jsonrpc: '2.0', id: message.id, error: { code: -32022, message: 'no' } })
  const discover = await server.take('server/discover')
  server.send({ jsonrpc: '2.0', id: discover.message.id, result: { supportedVersions: [VERSION] } })
  return { server, ...started, first: await first }
}

describe('a client of 2026-07-28', () => {
  test('reaches a server of its own era without a session', async () => {
    const { first } = await startModern()
    expect(first.json).toEqual({ jsonrpc: '2.0', id: 'd', result: { supportedVersions: [VERSION] } })
    expect(first.headers).not.toHaveProperty('mcp-session-id')
  })

  test('gets what it subscribed to, under its own id and beyond the request time-out, and no other client does', async () => {
    const { server, url } = await startModern()
    const listen = (id: string) =>
      stream(url, {
        body: rpc(id, 'subscriptions/listen', modernParams()),
        headers: modernHeaders('subscriptions/listen'),
      })
    const readers = [await listen('a'), await listen('a')]
    const ids = [await server.take('subscriptions/listen'), await server.take('subscriptions/listen')].map(
      ({ message }) => message.id,
    )
    const slow = call(url, toolCall.body, toolCall.headers)
    expect((await slow).status).toBe(504)
    ids.forEach((id, n) => {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
      server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { n, _meta } })
      server.send({ jsonrpc: '2.0', id, result: { _meta } })
    })
    for (const [n, reader] of readers.entries()) {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': 'a' }
      expect((await reader.rest()).map(event => event.json)).toEqual([
        { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { n, _meta } },
        { jsonrpc: '2.0', id: 'a', result: { _meta } },
      ])
    }
  })

  test('that closes its stream cancels at once', async () => {
    const { server, url } = await startModern()
    const reader = await stream(url, toolCall)
    const { message } = await server.take('tools/call')
    reader.close()
    expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
  })
})
