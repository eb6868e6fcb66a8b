import { expect, test } from 'vitest'
import { withCapabilitiesOf } from '../../../../plugins/proxy/bridge/clients/told-capabilities.ts'
import { startLegacy } from './modern-client.ts'
import { call, rpc, stream } from './raw-client.ts'
import { startStateless } from './start-stateless.ts'

// A message may have 10,000 names with escapes. What the proxy puts together of two messages may have more.

/** An object with so many names that JSON writes with an escape. */
const escaped = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}\n${n}`, 1]))

test('a call that has too many together with what the client said of itself fails; the server gets nothing', async () => {
  const { url, server, join, respond } = await startStateless()
  const client = await join({ experimental: escaped(900, 'c') })
  const use = (count: number) =>
    call(url, rpc(count, 'tools/call', { name: 'do', arguments: escaped(count, 'a') }), client.headers)
  expect((await use(9_500)).json).toMatchObject({
    id: 9_500,
    error: { code: -32600, message: expect.stringContaining('more than 10000 names') },
  })
  const fits = use(9_000)
  const { message } = await server.take('tools/call')
  expect(Object.keys(message.params.arguments)).toHaveLength(9_000)
  respond(message.id, { resultType: 'complete', content: [] })
  expect((await fits).json.result).toMatchObject({ content: [] })
  expect(server.received('tools/call')).toHaveLength(1)
})

test('so does one whose client responds with too many to what the server asks', async () => {
  const { url, server, join, ask } = await startStateless()
  const client = await join({ roots: {} })
  const body = rpc('mine', 'tools/call', { name: 'do', arguments: escaped(9_500, 'a') })
  const reader = await stream(url, { body, headers: client.headers })
  const { message } = await server.take('tools/call')
  ask(message.id, { r: { method: 'roots/list' } })
  const asked = (await reader.next())?.json
  expect(asked.method).toBe('roots/list')
  await call(
    url,
    { jsonrpc: '2.0', id: asked.id, result: { roots: [], ...escaped(1_000, 'b') } },
    client.headers,
  )
  expect((await reader.next())?.json).toMatchObject({
    id: 'mine',
    error: { message: expect.stringContaining('more than 10000 names') },
  })
  expect(server.received('tools/call')).toHaveLength(1)
})

test('a result that has too many together with what the server said of itself is withheld', async () => {
  const serverInfo = { name: 'puppet', version: '1', ...escaped(1_000, 's') }
  const { ask, server } = await startLegacy({ initialize: { serverInfo } })
  const calling = ask(1, 'tools/call', { name: 'do' })
  const { message } = await server.take('tools/call')
  server.send({ jsonrpc: '2.0', id: message.id, result: { content: [], _meta: escaped(9_500, 'r') } })
  expect((await calling).json).toMatchObject({
    id: 1,
    error: { code: -32000, message: expect.stringContaining('more than 10000 names') },
  })
})

test('many clients with long capabilities do not push out those of others', () => {
  const hostile = Array.from({ length: 50 }, (_, n) => ({ [`x${n}`]: escaped(1_000, `n${n}-`) }))
  const told = withCapabilitiesOf([...hostile, { sampling: {} }], '{"protocolVersion":"2025-06-18"}')
  expect(told.length).toBeLessThan(40_000)
  expect(JSON.parse(told)).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { sampling: {} } })
})
