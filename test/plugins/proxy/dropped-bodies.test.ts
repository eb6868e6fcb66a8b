import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { modernParams } from './bridge/modern-client.ts'
import { createPuppet } from './bridge/puppet-server.ts'
import { call, rpc } from './bridge/raw-client.ts'
import { startLegacyServer } from './legacy-http/legacy-server.ts'
import { startStatelessServer } from './stateless-http/stateless-server.ts'
import { testProxy, until } from './test-proxy.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** A middleware that reads each body, as policies do, and tells how many are still held. */
function watchBodies() {
  const seen: WeakRef<object>[] = []
  const make: MiddlewareFactory = async () => ({
    name: 'watch',
    stage: 'authorize',
    wrap: next => async exchange => {
      seen.push(new WeakRef(await exchange.body()))
      const message = await exchange.message()
      if (message) seen.push(new WeakRef(message))
      return next(exchange)
    },
  })
  const held = () => {
    collect()
    return seen.filter(ref => ref.deref()).length
  }
  return { make, seen, held }
}

const CLIENTS = 5
const padding = 'x'.repeat(100_000)

test('the sessions of older clients before a stateless server keep no request body', async () => {
  const bodies = watchBodies()
  const server = await startStatelessServer()
  const proxy = await testProxy({ target: server.origin, middlewares: [bodies.make] })
  const url = `${proxy.origin}/mcp`
  for (let i = 0; i < CLIENTS; i++) {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    }
    const begun = await call(url, rpc(0, 'initialize', params))
    const headers = {
      'mcp-session-id': String(begun.headers['mcp-session-id']),
      'mcp-protocol-version': '2025-06-18',
    }
    const called = await call(url, rpc(1, 'tools/call', { name: 'plain', arguments: { padding } }), headers)
    expect(called.status).toBe(200)
  }
  expect(bodies.seen).toHaveLength(CLIENTS * 4)
  await until(() => bodies.held() === 0)
})

test('the sessions of newer clients before an older server keep no request body', async () => {
  const bodies = watchBodies()
  const server = await startLegacyServer()
  const proxy = await testProxy({ target: server.origin, middlewares: [bodies.make] })
  for (let i = 0; i < CLIENTS; i++) {
    const params = modernParams({ name: 'plain', arguments: { padding } }, { name: `client ${i}` })
    const called = await call(`${proxy.origin}/mcp`, rpc(1, 'tools/call', params), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'plain',
    })
    expect(called.status).toBe(200)
  }
  expect(bodies.seen).toHaveLength(CLIENTS * 2)
  await until(() => bodies.held() === 0)
})

test('a call that waits for the input of its client keeps no request body', async () => {
  const bodies = watchBodies()
  const server = createPuppet({ initialize: {} })
  const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares: [bodies.make] })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const params = { name: 'do', arguments: { padding } }
  const calling = call(
    `${proxy.origin}/mcp`,
    rpc(1, 'tools/call', modernParams(params, { capabilities: { elicitation: {} } })),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'do' },
  )
  await server.take('tools/call')
  const asked = { message: 'who?', requestedSchema: { type: 'object', properties: {} } }
  server.send({ jsonrpc: '2.0', id: 'e', method: 'elicitation/create', params: asked })
  expect((await calling).json.result.resultType).toBe('input_required')
  expect(bodies.seen).toHaveLength(2)
  await until(() => bodies.held() === 0)
})

const LONG = 6 * 2 ** 20

test('a call that waits for a stdio server holds its body once, and nothing that was parsed of it', async () => {
  const bodies = watchBodies()
  const server = createPuppet({ deaf: true })
  server.attachment.stdin.on('data', () => undefined)
  const proxy = await testProxy({
    config: { transport: 'stdio', protocol: 'stateless' },
    middlewares: [bodies.make],
  })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const params = modernParams({ name: 'do', arguments: { padding: 'x'.repeat(LONG) } })
  const text = JSON.stringify(rpc(1, 'tools/call', params))
  collect()
  const before = process.memoryUsage().arrayBuffers
  const calling = fetch(`${proxy.origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'do',
    },
    body: text,
  })
  calling.catch(() => undefined) // the proxy closes at the end of the test
  await until(() => bodies.seen.length === 2)
  await until(() => bodies.held() === 1)
  expect(bodies.seen[0]?.deref()).toBeDefined()
  const held = () => {
    collect()
    return process.memoryUsage().arrayBuffers - before
  }
  // The client holds it as well.
  await until(() => held() < 2.5 * LONG)
})
