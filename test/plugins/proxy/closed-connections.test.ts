import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { modernParams } from './bridge/modern-client.ts'
import { call, rpc } from './bridge/raw-client.ts'
import { startLegacyServer } from './legacy-http/legacy-server.ts'
import { startStatelessServer } from './stateless-http/stateless-server.ts'
import { testProxy } from './test-proxy.ts'

/** A server that responds once on each connection, and closes it when another request comes. */
function oncePerConnection() {
  const used = new WeakSet<Socket>()
  return (_seen: unknown, response: ServerResponse): boolean => {
    const { socket } = response.req
    const isUsed = used.has(socket)
    used.add(socket)
    if (isUsed) socket.resetAndDestroy()
    return isUsed
  }
}

const initialize = (id: number) =>
  rpc(id, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  })

test('initialize is sent again when its connection was closed meanwhile; a call is not', async () => {
  const server = await startLegacyServer({ respond: oncePerConnection() })
  const { origin } = await testProxy({ target: server.origin })
  const first = await call(`${origin}/mcp`, initialize(1))
  expect(first.status).toBe(200)
  const { status, headers } = await call(`${origin}/mcp`, initialize(2))
  expect(status).toBe(200)
  expect(server.received('initialize')).toHaveLength(3)

  const session = { 'mcp-session-id': String(headers['mcp-session-id']) }
  const used = await call(`${origin}/mcp`, rpc(3, 'tools/call', { name: 'plain' }), session)
  expect(used).toMatchObject({ status: 502 })
  expect(server.received('tools/call')).toHaveLength(1)
})

test('so are the questions of the proxy to a stateless server, for an older client', async () => {
  const server = await startStatelessServer({ respond: oncePerConnection() })
  const { origin } = await testProxy({ target: server.origin })
  const { status, json } = await call(`${origin}/mcp`, initialize(1))
  expect(status).toBe(200)
  expect(json.error).toBeUndefined()
  expect(json.result.capabilities).toMatchObject({ tools: {} })
})

test('and the initialize of the proxy, for a newer client', async () => {
  const server = await startLegacyServer({ respond: oncePerConnection() })
  const { origin } = await testProxy({ target: server.origin })
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }
  for (let n = 0; n < 5; n++) {
    const body = rpc(n, 'server/discover', modernParams({}, { name: `client ${n}` }))
    expect((await call(`${origin}/mcp`, body, headers)).status).toBe(200)
  }
  expect(server.received('initialize').length).toBeGreaterThan(5)
})
