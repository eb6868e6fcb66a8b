import { describe, expect, test } from 'vitest'
import { createExchange } from '../../../../plugins/proxy/exchange.ts'
import { testServer } from '../test-proxy.ts'
import { createPuppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

async function start(options: Parameters<typeof startBridge>[0] = {}) {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment, ...options })
  const join = async (capabilities = {}) => {
    const reader = await stream(`${started.origin}/sse`)
    const endpoint = await reader.next()
    const url = endpoint?.data ?? ''
    await call(url, rpc(0, 'initialize', { capabilities }))
    const initialized = await reader.next()
    return { reader, endpoint, url, initialized }
  }
  return { server, ...started, join }
}

describe('the SSE transport', () => {
  test('begins with an absolute endpoint', async () => {
    const { join, origin } = await start()
    const { endpoint } = await join()
    expect(endpoint?.event).toBe('endpoint')
    expect(endpoint?.data).toMatch(new RegExp(`^${origin}/messages\\?session_id=[0-9a-f-]{36}$`))
  })

  test('a response goes to the client that sent the request, under its own id, and to no other', async () => {
    const { server, join } = await start()
    const [a, b] = [await join(), await join()]
    const accepted = await call(a.url, rpc('q', 'tools/call'))
    expect([accepted.status, accepted.text]).toEqual([202, 'Accepted'])
    const { message } = await server.take('tools/call')
    server.raw(`{"jsonrpc":"2.0","id":${message.id},"result":1.0}\n`)
    expect((await a.reader.next())?.data).toBe('{"jsonrpc":"2.0","id":"q","result":1.0}')
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    expect((await b.reader.next())?.json.method).toBe('notifications/tools/list_changed')
    expect(server.received('initialize')).toHaveLength(1)
    expect(b.initialized?.json).toMatchObject({ id: 0, result: { serverInfo: { name: 'puppet' } } })
  })

  test('the server can ask the client', async () => {
    const { server, join } = await start()
    const a = await join({ roots: {} })
    server.send({ jsonrpc: '2.0', id: 'r', method: 'roots/list' })
    const asked = await a.reader.next()
    await call(a.url, { jsonrpc: '2.0', id: asked?.json.id, result: { roots: [] } })
    expect((await server.take(line => line.message.id === 'r')).message.result).toEqual({ roots: [] })
  })

  test('a connection that ended before its session began leaves no session behind', async () => {
    const { bridge, join } = await start({ limits: { maxSessions: 1 } })
    const late = await testServer((request, response) => {
      const rest = { maxBytes: 1, refuseBatches: false, respond: () => {} }
      const exchange = createExchange(request, response, rest)
      response.once('close', () => void bridge.handle(exchange).finally(done))
      response.destroy()
    })
    const { promise, resolve: done } = Promise.withResolvers<void>()
    await expect(stream(`${late}/sse`)).rejects.toThrow()
    await promise
    expect((await join()).endpoint?.event).toBe('endpoint')
  })

  test('a connection that ends cancels what it asked for', async () => {
    const { server, join } = await start()
    const a = await join()
    await call(a.url, rpc(1, 'tools/call'))
    const { message } = await server.take('tools/call')
    a.reader.close()
    expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(message.id)
    expect((await call(a.url, rpc(2, 'ping'))).status).toBe(404)
  })

  test.each([
    ['no session id', '/messages', rpc(1, 'ping'), 400],
    ['an unknown one', '/messages?session_id=6ba7b810-9dad-11d1-80b4-00c04fd430c8', rpc(1, 'ping'), 404],
  ])('%s is refused', async (_what, path, body, status) => {
    const { origin } = await start()
    expect((await call(`${origin}${path}`, body)).status).toBe(status)
  })

  test('a body that is not a message is 400, another method 405', async () => {
    const { join } = await start()
    const { url } = await join()
    expect((await call(url, '{')).status).toBe(400)
    expect((await call(url, '[]')).status).toBe(400)
    expect((await call(url, undefined, {}, 'DELETE')).status).toBe(405)
  })
})
