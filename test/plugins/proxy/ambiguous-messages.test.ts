import { describe, expect, test } from 'vitest'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { createPuppet } from './bridge/puppet-server.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

/** A policy that notes each method it is asked to judge. */
function policy(judged: unknown[]): MiddlewareFactory {
  return async () => ({
    name: 'policy',
    stage: 'authorize',
    wrap: next => async exchange => {
      judged.push(await exchange.message())
      await next(exchange)
    },
  })
}

const AMBIGUOUS: readonly (readonly [where: string, body: string])[] = [
  ['jsonrpc', '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}'],
  ['id', '{"jsonrpc":"2.0","id":1,"method":"a","id":2}'],
  ['method', '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}'],
  ['method, once escaped', '{"jsonrpc":"2.0","id":1,"method":"a","\\u006dethod":"b"}'],
  ['params', '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}'],
  ['params.name', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}'],
  [
    'params.name, apart',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","arguments":{"x":"}"},"name":"b"}}',
  ],
  ['params.uri', '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://","uri":"b://"}}'],
  ['params.arguments', '{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"é":1,"\\u00e9":2}}}'],
  ['deep in a list', '{"jsonrpc":"2.0","id":1,"method":"a","params":{"list":[[{"b":{}},{"b":1,"b":1}]]}}'],
  ['a notification', '{"jsonrpc":"2.0","method":"a","method":"b"}'],
  ['a response', '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}'],
  ['a method in capitals', '{"jsonrpc":"2.0","id":1,"method":"a","METHOD":"b"}'],
  [
    'a name with a capital',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}',
  ],
  [
    'parameters with a long s',
    '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"param\\u017f":{"name":"b"}}',
  ],
  ['a task with a Kelvin sign', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"tas\u212aId":"b"}}'],
]

/** Names that stand twice, but not in one object, and capitals where they decide nothing. */
const SINGLE =
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"id":"id","method":["method","method"],"a":{"a":{},"Name":1,"ID":2},"text":"\\"a\\":1,\\"a\\":2"}}'

describe('a server that speaks HTTP, with a policy', () => {
  const start = async () => {
    const judged: unknown[] = []
    const received: string[] = []
    const target = await testServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      received.push(text)
      response.end()
    })
    const proxy = await testProxy({ target, middlewares: [policy(judged)] })
    return { url: `${proxy.origin}/mcp`, judged, received }
  }

  test.each(AMBIGUOUS)(
    'an ambiguous message is refused before the policy judges it: %s',
    async (_where, body) => {
      const { url, judged, received } = await start()
      const answer = await post(url, body)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: { code: -32600, message: expect.stringMatching(/stands twice|in another case/) },
      })
      expect(judged).toEqual([])
      expect(received).toEqual([])
    },
  )

  test('names that stand twice in different objects pass byte for byte', async () => {
    const { url, judged, received } = await start()
    expect((await post(url, SINGLE)).status).toBe(200)
    expect(judged).toEqual([JSON.parse(SINGLE)])
    expect(received).toEqual([SINGLE])
  })
})

test('a policy gets no message where one is nested too deeply to be checked', async () => {
  const judged: unknown[] = []
  const target = await testServer(
    (request, response) => void request.resume().on('end', () => response.end()),
  )
  const proxy = await testProxy({ target, middlewares: [policy(judged)] })
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const body = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"deep":${deep},"name":"a","name":"b"}}`
  await post(`${proxy.origin}/mcp`, body)
  expect(judged).toEqual([undefined])
})

test('without a policy the body passes to an HTTP server byte for byte', async () => {
  const received: string[] = []
  const target = await testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    received.push(text)
    response.end()
  })
  const proxy = await testProxy({ target })
  for (const [, body] of AMBIGUOUS) expect((await post(`${proxy.origin}/mcp`, body)).status).toBe(200)
  expect(received).toEqual(AMBIGUOUS.map(([, body]) => body))
})

describe.each([
  ['with a policy', true],
  ['without one', false],
])('a stdio server, %s', (_what, hasPolicy) => {
  const start = async () => {
    const judged: unknown[] = []
    const server = createPuppet()
    const middlewares = hasPolicy ? [policy(judged)] : []
    const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares })
    await proxy.connect({ kind: 'stdio', attachment: server.attachment })
    return { url: `${proxy.origin}/mcp`, judged, server }
  }

  test.each(AMBIGUOUS)(
    'an ambiguous message is refused and does not reach the server: %s',
    async (_where, body) => {
      const { url, judged, server } = await start()
      const answer = await post(url, body)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        error: { code: -32600, message: expect.stringMatching(/stands twice|in another case/) },
      })
      expect(judged).toEqual([])
      expect((await post(url, rpc('notifications/flush'))).status).toBe(202)
      expect((await server.take(() => true)).message.method).toBe('notifications/flush')
    },
  )

  test('names that stand twice in different objects reach the server', async () => {
    const { url, server } = await start()
    const answer = post(url, SINGLE)
    const { message } = await server.take('ping')
    expect(message.params).toEqual(JSON.parse(SINGLE).params)
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    expect((await answer).status).toBe(200)
  })
})

test('a body that a middleware replaces after it was read is checked again', async () => {
  const server = createPuppet()
  const replace: MiddlewareFactory = async () => ({
    name: 'replace',
    stage: 'mutate',
    wrap: next => async exchange => {
      await exchange.message()
      exchange.replaceBody(Buffer.from(AMBIGUOUS[2]?.[1] ?? ''))
      await next(exchange)
    },
  })
  const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares: [replace] })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1))
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('twice')
})

test('over SSE a repeated member is refused by a stdio server too', async () => {
  const server = createPuppet()
  const proxy = await testProxy({ config: { transport: 'stdio', proxy_mode: 'sse' } })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const stream = await fetch(`${proxy.origin}/sse`)
  const first = await stream.body?.getReader().read()
  const endpoint = /data: (\S+)/.exec(Buffer.from(first?.value ?? []).toString())?.[1] ?? ''
  for (const [, body] of AMBIGUOUS) expect((await post(endpoint, body)).status).toBe(400)
})

describe('the names of members that differ', () => {
  /** Objects with `per` members each, together `count` names that differ. */
  const objects = (count: number, per: number) => {
    const all = Array.from({ length: Math.ceil(count / per) }, (_, n) => {
      const members = Array.from({ length: Math.min(per, count - n * per) }, (_, k) => `"-${n * per + k}":1`)
      return `{${members.join(',')}}`
    })
    return `[${all.join(',')}]`
  }
  const row = '{"id":1,"name":"x","price":2,"size":3},'
  const CASES = [
    { what: '40,000 in small objects', args: objects(40_000, 16), status: 200 },
    {
      what: '100,000 objects with the same four',
      args: `[${row.repeat(100_000).slice(0, -1)}]`,
      status: 200,
    },
    { what: '60,000 in small objects', args: objects(60_000, 16), status: 400 },
    { what: '60,000 in one object', args: objects(60_000, 60_000), status: 400 },
    { what: '700,000 in one object', args: objects(700_000, 700_000), status: 400 },
  ]

  test.each(CASES)('$what: $status', async ({ args, status }) => {
    const target = await testServer((request, response) => request.resume().on('end', () => response.end()))
    const proxy = await testProxy({ target, middlewares: [policy([])] })
    const answer = await post(
      `${proxy.origin}/mcp`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"rows":${args}}}}`,
    )
    expect(answer.status).toBe(status)
    if (status === 400) expect(await answer.text()).toContain('more than 50000 differ')
  })
})
