import { expect, test } from 'vitest'
import { modernHeaders, modernParams, startLegacy } from './modern-client.ts'
import { call, rpc } from './raw-client.ts'

const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } }
const start = (options: Parameters<typeof startLegacy>[0] = {}) =>
  startLegacy({ initialize: { capabilities }, ...options })
const named = (id: unknown) => ({ 'io.modelcontextprotocol/subscriptionId': id })
const updated = (uri: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/resources/updated',
  params: { uri },
})
const changed = (what: string) => ({ jsonrpc: '2.0', method: `notifications/${what}/list_changed` })

test('a subscription acknowledges what the server can do, and gets that alone, under its id', async () => {
  const { server, open } = await start()
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ['a:b', 'a:missing', 'a:b'],
  }
  const reader = await open('s', 'subscriptions/listen', { notifications })
  const { message: first } = await server.take('resources/subscribe')
  expect(first.params).toEqual({ uri: 'a:b' })
  const { message: second } = await server.take('resources/subscribe')
  server.send({ jsonrpc: '2.0', id: second.id, error: { code: -32002, message: 'no' } })
  // Before the acknowledgement nothing is sent, and nothing is lost.
  server.send(changed('tools'))
  server.send({ jsonrpc: '2.0', id: first.id, result: {} })
  expect((await reader.next())?.json).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] },
      _meta: named('s'),
    },
  })
  expect((await reader.next())?.json).toEqual({ ...changed('tools'), params: { _meta: named('s') } })
  for (const message of [changed('prompts'), updated('a:missing'), updated('a:bc'), updated('a:b/c')]) {
    server.send(message)
  }
  server.raw(
    '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","n":12345678901234567890}}\n',
  )
  expect((await reader.next())?.json.params).toEqual({ uri: 'a:b/c', _meta: named('s') })
  expect((await reader.next())?.data).toContain('"n":12345678901234567890')
  reader.close()
  expect((await server.take('resources/unsubscribe')).message.params).toEqual({ uri: 'a:b' })
})

test('the server keeps a subscription as long as one stream of the client is about it', async () => {
  const { server, open, answer } = await start()
  const notifications = { resourceSubscriptions: ['a:b'] }
  const one = await open(1, 'subscriptions/listen', { notifications })
  await answer('resources/subscribe', {})
  expect((await one.next())?.json.params._meta).toEqual(named(1))
  const two = await open(2, 'subscriptions/listen', { notifications })
  expect((await two.next())?.json.params._meta).toEqual(named(2))
  const other = await open(3, 'subscriptions/listen', { notifications }, { name: 'other' })
  expect((await other.next())?.json.params._meta).toEqual(named(3))
  server.send(updated('a:b'))
  for (const [n, reader] of [one, two, other].entries()) {
    expect((await reader.next())?.json).toEqual({
      ...updated('a:b'),
      params: { uri: 'a:b', _meta: named(n + 1) },
    })
  }
  one.close()
  two.close()
  server.send(updated('a:b'))
  expect((await other.next())?.json.params.uri).toBe('a:b')
  expect(server.received('resources/unsubscribe')).toEqual([])
  other.close()
  await server.take('resources/unsubscribe')
  expect(server.received('resources/subscribe')).toHaveLength(1)
})

test('a restarted server gets the subscriptions again', async () => {
  const { server, open, answer, bridge } = await start()
  const reader = await open(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a:b'] } })
  await answer('resources/subscribe', {})
  await reader.next()
  server.die()
  const next = await start()
  await bridge.connect(next.server.attachment)
  await next.server.take('resources/subscribe')
  next.server.send(updated('a:b'))
  expect((await reader.next())?.json.params.uri).toBe('a:b')
})

test('a subscription is kept open, and ends with a result when the proxy ends', async () => {
  const { open, bridge } = await start({ limits: { keepAliveMs: 20 } })
  const reader = await open(9, 'subscriptions/listen', { notifications: {} })
  expect((await reader.next())?.json.params.notifications).toEqual({})
  await expect.poll(() => reader.seen).toContain(': keepalive')
  void bridge.close()
  expect((await reader.next())?.json).toEqual({
    jsonrpc: '2.0',
    id: 9,
    result: { resultType: 'complete', _meta: named(9) },
  })
  expect(await reader.next()).toBeUndefined()
})

test('a filter that is none is refused, and so is a client that takes no event stream', async () => {
  const { ask } = await start()
  for (const notifications of [
    undefined,
    [],
    { resourceSubscriptions: 'a:b' },
    { resourceSubscriptions: [1] },
  ]) {
    const { json } = await ask(1, 'subscriptions/listen', { notifications })
    expect(json.error.message).toContain('not a notification filter')
  }
  const { json } = await ask(1, 'subscriptions/listen', { notifications: {} })
  expect(json.error.message).toContain('needs an event stream')
})

test('a client cannot have more resources than are good for the other clients', async () => {
  const { server, ask, open, answer } = await start()
  const uris = Array.from({ length: 1001 }, (_, n) => `a:${n}`)
  const many = await ask(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
  expect(many.json.error).toMatchObject({ code: -32602, message: expect.stringContaining('1000') })
  const long = `a:${'x'.repeat(1_100_000)}`
  const reader = open(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a:b', long] } })
  await answer('resources/subscribe', {})
  expect((await (await reader).next())?.json.params.notifications).toEqual({ resourceSubscriptions: ['a:b'] })
  expect(server.received('resources/subscribe')).toHaveLength(1)
})

test('a subscription that ends before the server has agreed to it gets nothing after its end', async () => {
  const { server, ask, bridge, url } = await start({ limits: { holdHeadMs: 60_000 } })
  await ask(1, 'server/discover')
  const body = rpc(
    2,
    'subscriptions/listen',
    modernParams({ notifications: { resourceSubscriptions: ['a:b'] } }),
  )
  const ended = call(url, body, {
    ...modernHeaders('subscriptions/listen'),
    accept: 'application/json, text/event-stream',
  })
  await server.take('resources/subscribe')
  await bridge.close()
  expect((await ended).json.result.resultType).toBe('complete')
})
