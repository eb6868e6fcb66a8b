import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { createPuppet, type Puppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'
import { startStateless } from './start-stateless.ts'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }

/** Acknowledges the next `subscriptions/listen`, with all that it asks for unless `uris` are given. */
async function acknowledge(server: Puppet, uris?: string[]) {
  const { message } = await server.take('subscriptions/listen')
  const { id, params } = message
  const notifications = { ...params.notifications, ...(uris ? { resourceSubscriptions: uris } : {}) }
  const tell = (method: string, more = {}) =>
    server.send({ jsonrpc: '2.0', method, params: { ...more, _meta: { [SUBSCRIPTION]: id } } })
  tell('notifications/subscriptions/acknowledged', { notifications })
  return { id, filter: params.notifications, tell }
}

test('SDK v1 client hears of changed tools and resources of a server of 2026-07-28', async () => {
  const { url } = await startBridge({ attachment: spawnFixture('asking-modern').attachment })
  const client = new Client({ name: 'old', version: '1' })
  const heard: string[] = []
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'))
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.push(params.uri),
  )
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  await client.subscribeResource({ uri: 'a://1' })
  await client.callTool({ name: 'change_tools' })
  await client.callTool({ name: 'update', arguments: { uri: 'a://1' } })
  await expect.poll(() => heard.sort()).toEqual(['a://1', 'tools'])
  await client.unsubscribeResource({ uri: 'a://1' })
})

test('one request serves all clients, and ends with the last of them', async () => {
  const { server, url, join } = await startStateless({}, capabilities)
  const a = await join()
  const first = await acknowledge(server)
  expect(first.filter).toEqual({ toolsListChanged: true })
  const b = await join()
  const readers = await Promise.all([a, b].map(({ headers }) => stream(url, { headers })))

  const subscribed = call(url, rpc(1, 'resources/subscribe', { uri: 'a://1' }), b.headers)
  const second = await acknowledge(server)
  expect(second.filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['a://1'] })
  expect((await subscribed).json.result).toEqual({})
  // The second one was acknowledged before the first ended.
  expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(first.id)

  second.tell('notifications/resources/updated', { uri: 'a://1', title: 'x' })
  second.tell('notifications/tools/list_changed')
  const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }
  expect((await readers[0]?.next())?.json).toEqual(changed)
  expect((await readers[1]?.next())?.json).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'a://1', title: 'x' },
  })
  expect((await readers[1]?.next())?.json).toEqual(changed)

  await call(url, undefined, b.headers, 'DELETE')
  const third = await acknowledge(server)
  expect(third.filter).toEqual({ toolsListChanged: true })
  await server.take('notifications/cancelled')
  await call(url, undefined, a.headers, 'DELETE')
  expect((await server.take('notifications/cancelled')).message.params.requestId).toBe(third.id)
  expect(server.received('subscriptions/listen')).toHaveLength(3)
  expect(server.received('resources/subscribe')).toEqual([])
  expect(server.received('resources/unsubscribe')).toEqual([])
})

test('a resource that the server does not tell of cannot be subscribed to', async () => {
  const { server, url, join } = await startStateless({}, capabilities)
  const a = await join()
  await acknowledge(server)
  const subscribed = call(url, rpc(1, 'resources/subscribe', { uri: 'a://2' }), a.headers)
  await acknowledge(server, [])
  expect((await subscribed).json.error.message).toContain('does not tell of changes')
})

test('it is opened again at the next process of the server', async () => {
  const { server, url, bridge, join } = await startStateless({}, capabilities)
  const a = await join()
  await acknowledge(server)
  const reader = await stream(url, { headers: a.headers })
  const subscribed = call(url, rpc(1, 'resources/subscribe', { uri: 'a://1' }), a.headers)
  await acknowledge(server)
  await subscribed
  server.die()
  const next = createPuppet({ initialize: false })
  await bridge.connect(next.attachment)
  const again = await acknowledge(next)
  expect(again.filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ['a://1'] })
  again.tell('notifications/resources/updated', { uri: 'a://1' })
  expect((await reader.next())?.json.params).toEqual({ uri: 'a://1' })
})

test('a server that tells of no changes is not asked to', async () => {
  const { server, url, join } = await startStateless()
  const a = await join()
  const subscribed = await call(url, rpc(1, 'resources/subscribe', { uri: 'a://1' }), a.headers)
  expect(subscribed.json.error.code).toBe(-32000)
  expect(server.received('subscriptions/listen')).toEqual([])
})

test('the resources of one client and of all together stay within a line that servers read', async () => {
  const { server, url, join } = await startStateless(
    { limits: { maxSubscriptionBytes: 100, maxListenBytes: 250 } },
    { resources: { subscribe: true } },
  )
  const subscribe = async (headers: Record<string, string>, uri: string) =>
    call(url, rpc(1, 'resources/subscribe', { uri }), headers)
  for (const uri of [`a:${'x'.repeat(90)}`, `b:${'x'.repeat(90)}`]) {
    const { headers } = await join()
    const [answer] = await Promise.all([subscribe(headers, uri), acknowledge(server)])
    expect(answer.json.result).toEqual({})
    expect((await subscribe(headers, 'a:more-than-fits')).json.error.message).toContain('too many')
  }
  const { headers } = await join()
  expect((await subscribe(headers, `c:${'x'.repeat(90)}`)).json.error.message).toContain('does not tell')
})
