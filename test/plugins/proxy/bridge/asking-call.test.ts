import { expect, test } from 'vitest'
import type { Call, Reply } from '../../../../plugins/proxy/bridge/calls/call.ts'
import type { Session } from '../../../../plugins/proxy/bridge/clients/client-sessions.ts'
import { startAskingCall } from '../../../../plugins/proxy/bridge/older-clients/asking-call.ts'
import { readMessage } from '../../../../src/net/rpc-message.ts'
import { createPuppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { startStateless } from './start-stateless.ts'

const roots = { method: 'roots/list' }
const form = {
  method: 'elicitation/create',
  params: { message: 'who?', requestedSchema: { type: 'object' } },
}
const url = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'log in', url: 'https://a.example/' },
}
const able = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }

/** A client in a call whose server has been asked. */
async function calling(options: Parameters<typeof startStateless>[0] = {}, capabilities: object = able) {
  const world = await startStateless(options)
  const client = await world.join({ ...capabilities }, '2025-11-25')
  const body = rpc('mine', 'tools/call', {
    name: 'do',
    arguments: { big: '§BIG§' },
    _meta: { traceparent: '00-1', 'io.modelcontextprotocol/clientInfo': { name: 'another' } },
    inputResponses: { forged: {} },
    requestState: 'forged',
  })
  const text = JSON.stringify(body).replace('"§BIG§"', '12345678901234567890')
  const reader = await stream(world.url, { body: text, headers: client.headers })
  const first = await world.server.take('tools/call')
  const respondToInput = (id: unknown, outcome: object) =>
    call(world.url, { jsonrpc: '2.0', id, ...outcome }, client.headers)
  return { ...world, client, reader, first, respondToInput }
}

test('each round repeats the request with the inputs and the state, byte for byte, under another id', async () => {
  const { server, reader, first, ask, respond, respondToInput } = await calling()
  expect(first.text).toContain('12345678901234567890')
  expect(first.message.params).toMatchObject({
    name: 'do',
    _meta: { traceparent: '00-1', 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
  })
  expect(first.message.params._meta['io.modelcontextprotocol/clientInfo'].name).toMatch(/^client/)
  expect(first.message.params).not.toHaveProperty('inputResponses')
  expect(first.message.params).not.toHaveProperty('requestState')

  ask(first.message.id, { 'k"1': roots, k2: form }, 'stäte')
  const asked = [await reader.next(), await reader.next()].map(event => event?.json)
  expect(asked.map(({ method }) => method)).toEqual(['roots/list', 'elicitation/create'])
  expect(asked[1].params).toEqual(form.params)
  await respondToInput(asked[1].id, { result: { action: 'decline' } })
  expect(server.received('tools/call')).toHaveLength(1)
  await respondToInput(asked[0].id, { result: { roots: [] } })

  const second = await server.take('tools/call')
  expect(second.message.id).not.toBe(first.message.id)
  const { inputResponses, requestState, ...rest } = second.message.params
  expect(rest).toEqual(first.message.params)
  expect(second.text).toContain('12345678901234567890')
  expect(inputResponses).toEqual({ 'k"1': { roots: [] }, k2: { action: 'decline' } })
  expect(requestState).toBe('stäte')

  // A state is for the next round only.
  ask(second.message.id, { again: roots })
  await respondToInput((await reader.next())?.json.id, { result: { roots: [] } })
  const third = await server.take('tools/call')
  expect(third.message.params).not.toHaveProperty('requestState')
  expect(Object.keys(third.message.params.inputResponses)).toEqual(['again'])
  respond(third.message.id, { resultType: 'complete', content: [] })
  expect((await reader.rest()).map(({ json }) => json)).toEqual([
    { jsonrpc: '2.0', id: 'mine', result: { resultType: 'complete', content: [] } },
  ])
})

const errorOf = async ({ reader }: Awaited<ReturnType<typeof calling>>) => {
  const [last] = (await reader.rest()).map(({ json }) => json).slice(-1)
  expect(last.id).toBe('mine')
  return last.error.message
}

test('a server that asks for ever is stopped', async () => {
  const world = await calling()
  let { first } = world
  for (let round = 0; round < 20; round++) {
    world.ask(first.message.id, undefined, `round ${round}`)
    first = await world.server.take('tools/call')
  }
  world.ask(first.message.id, undefined, 'once more')
  expect(await errorOf(world)).toBe('The server has asked for input 20 times')
})

test.each([
  [
    '10,000 inputs',
    Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, roots])),
    /more than 100/,
  ],
  ['nothing', undefined, /names no input/],
  ['no object', [roots], /not an object/],
  ['another method', { a: { method: 'tools/call', params: {} } }, /no client can be asked for/],
  ['parameters that are none', { a: { ...form, params: [] } }, /no client can be asked for/],
  ['a text', { a: 'roots/list' }, /no client can be asked for/],
])('a server that asks for %s gets nothing, and the call ends', async (_, inputs, problem) => {
  const world = await calling()
  world.ask(world.first.message.id, inputs)
  expect(await errorOf(world)).toMatch(problem)
})

test.each([
  ['sampling/createMessage', { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }],
  ['elicitation/create', url],
])('%s of a client that has not declared it ends the call', async (method, input) => {
  const world = await calling({}, { elicitation: {} })
  world.ask(world.first.message.id, { fine: form, not: input })
  expect(await errorOf(world)).toBe(`The server needs ${method}, which the client has not declared`)
})

test('a client that refuses one input is asked for no other', async () => {
  const world = await calling()
  world.ask(world.first.message.id, { a: roots, b: form })
  const [a, b] = [await world.reader.next(), await world.reader.next()]
  await world.respondToInput(a?.json.id, { error: { code: -1, message: 'not today' } })
  expect((await world.reader.next())?.json).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: b?.json.id },
  })
  expect(await errorOf(world)).toBe('The client refused roots/list: not today')
})

test('a client without an event stream is told so', async () => {
  const { url, server, join, ask } = await startStateless()
  const client = await join(able)
  const answer = call(url, rpc(1, 'tools/call', { name: 'do' }), client.headers)
  ask((await server.take('tools/call')).message.id, { a: roots })
  expect((await answer).json.error.message).toContain('no event stream')
})

test('an input of one client is not taken of another', async () => {
  const world = await calling()
  const other = await world.join(able)
  world.ask(world.first.message.id, { a: roots })
  const { id } = (await world.reader.next())?.json ?? {}
  await call(world.url, { jsonrpc: '2.0', id, result: { roots: [{ uri: 'file:///stolen' }] } }, other.headers)
  await world.respondToInput(id, { result: { roots: [] } })
  const { message } = await world.server.take('tools/call')
  expect(message.params.inputResponses).toEqual({ a: { roots: [] } })
})

test('a client that cancels between two rounds ends the call', async () => {
  const world = await calling()
  world.ask(world.first.message.id, { a: roots })
  const { id } = (await world.reader.next())?.json ?? {}
  const params = { requestId: 'mine', reason: 'enough' }
  await call(world.url, { jsonrpc: '2.0', method: 'notifications/cancelled', params }, world.client.headers)
  await world.respondToInput(id, { result: { roots: [] } })
  await call(world.url, { jsonrpc: '2.0', method: 'notifications/flush' }, world.client.headers)
  await world.server.take('notifications/flush')
  expect(world.server.received('tools/call')).toHaveLength(1)
})

test('a client that ends its session between two rounds ends the call, and nothing is repeated', async () => {
  const world = await calling()
  world.ask(world.first.message.id, { a: roots })
  const { id } = (await world.reader.next())?.json ?? {}
  await call(world.url, undefined, world.client.headers, 'DELETE')
  expect((await world.respondToInput(id, { result: { roots: [] } })).status).toBe(404)
  const other = await world.join()
  await call(world.url, { jsonrpc: '2.0', method: 'notifications/flush' }, other.headers)
  await world.server.take('notifications/flush')
  expect(world.server.received('tools/call')).toHaveLength(1)
  expect(world.server.received('notifications/cancelled')).toEqual([])
})

test('a round goes on at the next process of the server', async () => {
  const world = await calling()
  world.ask(world.first.message.id, { a: roots }, 'kept')
  const { id } = (await world.reader.next())?.json ?? {}
  world.server.die()
  const next = createPuppet({ initialize: false })
  await world.bridge.connect(next.attachment)
  await world.respondToInput(id, { result: { roots: [] } })
  const { message } = await next.take('tools/call')
  expect(message.params.requestState).toBe('kept')
  next.send({ jsonrpc: '2.0', id: message.id, result: { content: [] } })
  expect((await world.reader.rest()).at(-1)?.json.result).toEqual({ content: [] })
})

test('a user who is at a URL is not asked again, and the client hears when that is over', async () => {
  const world = await calling()
  world.ask(world.first.message.id, { login: url }, 'one')
  const { id, params } = (await world.reader.next())?.json ?? {}
  expect(params).toEqual({ ...url.params, elicitationId: expect.any(String) })
  await world.respondToInput(id, { result: { action: 'accept' } })
  const second = await world.server.take('tools/call')
  world.ask(second.message.id, { login: url }, 'two')
  const third = await world.server.take('tools/call')
  expect(third.message.params).toMatchObject({
    requestState: 'two',
    inputResponses: { login: { action: 'accept' } },
  })
  world.respond(third.message.id, { content: [] })
  expect((await world.reader.rest()).map(({ json }) => json.method ?? json.result)).toEqual([
    'notifications/elicitation/complete',
    { content: [] },
  ])
})

test.each([
  ['resources/read', { code: -32602, message: 'none', data: { uri: 'a://b' } }, -32002],
  ['resources/read', { code: -32602, message: 'bad' }, -32602],
  ['tools/list', { code: -32022, message: 'what?' }, -32603],
  ['tools/list', { code: -32021, message: 'roots' }, -32600],
  ['tools/list', { code: -5, message: 'own' }, -5],
])('an error of %s becomes one that an older client knows', async (method, error, code) => {
  const { url, server, join } = await startStateless()
  const client = await join()
  const answer = call(url, rpc(1, method, { uri: 'a://b' }), client.headers)
  server.send({ jsonrpc: '2.0', id: (await server.take(method)).message.id, error })
  expect((await answer).json.error).toEqual({ ...error, code })
})

test.each([
  ...['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'tasks/update'],
  ...['server/discover', 'subscriptions/listen'],
])('%s of an older client is not for the server', async method => {
  const { url, server, join } = await startStateless()
  const client = await join()
  const before = server.lines.length
  expect((await call(url, rpc(1, method), client.headers)).json.error.code).toBe(-32601)
  expect(server.lines).toHaveLength(before)
})

test('the long requests that may be repeated are limited, for one caller to half', () => {
  // Parameters that are no object are passed on as they are, which takes no time.
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: 'x'.repeat(8 << 20) }
  const request = readMessage(JSON.stringify(message))
  if (request?.kind !== 'request') throw new Error('no request')
  const replies: Reply[] = []
  const start = (holder: string) =>
    startAskingCall(request, {
      calls: {
        start(_: unknown, { reply }: { reply: Reply }) {
          replies.push(reply)
          return {} as Call
        },
      } as never,
      asked: {} as never,
      now: Date.now,
      session: { holder, outbox: { listening: false } } as unknown as Session,
      metadata: { infoText: undefined, capabilitiesText: '{}', logLevel: undefined },
      reply: { fail() {} } as unknown as Reply,
    })
  while (start('one')) expect(replies.length).toBeLessThan(32)
  expect(replies).toHaveLength(16)
  expect(start('another')).toBeDefined()
  for (const reply of replies) reply.fail('gone')
  expect(start('one')).toBeDefined()
  replies.at(-1)?.fail('gone')
})
