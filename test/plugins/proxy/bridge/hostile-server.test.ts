import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPuppet } from './puppet-server.ts'
import { call, open, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

async function start(options: Parameters<typeof startBridge>[0] = {}) {
  const server = createPuppet()
  const started = await startBridge({ attachment: server.attachment, ...options })
  return { server, ...started, client: await open(started.url) }
}

describe('a server that misbehaves', () => {
  test('other output than messages is logged a few times and skipped', async () => {
    const { server, url, client, log } = await start()
    const answer = call(url, rpc(1, 'tools/call'), client.headers)
    const { message } = await server.take('tools/call')
    server.raw('Server ready\n{"level":"info"}\n\n{broken\n[1,2\n"text"\n42\n')
    server.raw(`got: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: 'echo of a log line' })}\n`)
    server.raw(Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x0a]))
    for (let n = 0; n < 1000; n++) server.raw(`noise ${n} ${'x'.repeat(10_000)}\n`)
    server.send({ jsonrpc: '2.0', id: message.id, result: 'answer' })
    expect((await answer).json.result).toBe('answer')
    const warnings = log.filter(line => line.includes('not a message'))
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.length).toBeLessThanOrEqual(5)
    for (const line of warnings) expect(line.length).toBeLessThan(600)
  })

  test('a line beyond the limit fails its own request only', async () => {
    const { server, url, client } = await start({ limits: { maxLine: 100_000 } })
    const answers = [1, 2, 3].map(id => call(url, rpc(id, 'tools/call', { id }), client.headers))
    const ids = new Map<number, number>()
    for (let n = 0; n < 3; n++) {
      const { message } = await server.take('tools/call')
      ids.set(message.params.id, message.id)
    }
    const big = 'x'.repeat(200_000)
    server.raw(`{"jsonrpc":"2.0","id":${ids.get(1)},"result":"${big}"}\n`)
    server.raw(`{"result":{"content":"${big}"},"jsonrpc":"2.0","id":${ids.get(2)}}\n`)
    server.send({ jsonrpc: '2.0', id: ids.get(3), result: 'small' })
    const [first, second, third] = await Promise.all(answers)
    for (const answer of [first, second])
      expect(answer).toMatchObject({ status: 502, json: { error: { code: -32000 } } })
    expect(third?.json.result).toBe('small')
  })

  test('repeated, late and invented responses reach no client', async () => {
    const { server, url, client } = await start()
    const reader = await stream(url, { headers: client.headers })
    const answer = call(url, rpc(1, 'tools/call'), client.headers)
    const { message } = await server.take('tools/call')
    for (const id of [message.id, message.id, message.id + 1, 0, -5, 1e300, 'x', null]) {
      server.send({ jsonrpc: '2.0', id, result: id === message.id ? 'right' : 'wrong' })
    }
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 99, progress: 1 },
    })
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: {} } })
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    expect((await answer).json.result).toBe('right')
    expect((await reader.next())?.json.method).toBe('notifications/tools/list_changed')
  })

  test('requests of the server beyond the limit get an error', async () => {
    const { server, url } = await start({ limits: { maxServerRequests: 3 } })
    const a = await open(url, { sampling: {} })
    await stream(url, { headers: a.headers })
    for (let id = 100; id < 120; id++)
      server.send({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params: {} })
    const refused = await server.take(line => line.message.id === 119)
    expect(refused.message.error.code).toBe(-32000)
    expect(server.lines.filter(line => line.message.error)).toHaveLength(17)
  })

  test('odd parameters do no harm', async () => {
    const { server, url, client } = await start()
    for (const params of [
      null,
      [],
      'x',
      5,
      { _meta: null },
      { progressToken: {} },
      { uri: {} },
      { level: [] },
    ]) {
      for (const method of ['progress', 'cancelled', 'message', 'resources/updated', 'tasks/status', 'x/y']) {
        server.send({ jsonrpc: '2.0', method: `notifications/${method}`, params })
      }
      server.send({ jsonrpc: '2.0', id: 'odd', method: 'elicitation/create', params })
    }
    const answer = call(url, rpc(1, 'tools/call', null), client.headers)
    const { message } = await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: message.id, result: 'still here' })
    expect((await answer).json.result).toBe('still here')
  })

  test('whatever it writes, a request gets its response afterwards', async () => {
    const { server, url, client } = await start()
    await stream(url, { headers: client.headers })
    const method = fc.oneof(
      fc.constantFrom('ping', 'sampling/createMessage', 'elicitation/create', 'roots/list', 'tasks/get'),
      fc
        .constantFrom(
          'progress',
          'cancelled',
          'message',
          'resources/updated',
          'tasks/status',
          'elicitation/complete',
        )
        .map(name => `notifications/${name}`),
    )
    const value = fc.jsonValue({ maxDepth: 2 })
    const params = fc.oneof(
      value,
      fc.record(
        {
          _meta: fc.oneof(
            value,
            fc.record({ progressToken: value, 'io.modelcontextprotocol/related-task': value }),
          ),
          requestId: value,
          progressToken: value,
          uri: value,
          level: value,
          mode: value,
          tools: value,
          taskId: value,
        },
        { requiredKeys: [] },
      ),
    )
    const message = fc.record(
      { id: value, method, params, result: value, error: value },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(message), async messages => {
        for (const fields of messages) server.send({ jsonrpc: '2.0', ...fields })
        const answer = call(url, rpc(1, 'tools/call'), client.headers)
        const { message: asked } = await server.take('tools/call')
        server.send({ jsonrpc: '2.0', id: asked.id, result: 'well' })
        expect((await answer).status).toBe(200)
      }),
      { numRuns: 200 },
    )
  })

  test('after an odd response to initialize the proxy still works', async () => {
    for (const result of [null, [], 'x', { protocolVersion: {} }]) {
      const server = createPuppet({ initialize: false })
      const { url } = await startBridge({ attachment: server.attachment })
      const answer = call(url, rpc(1, 'initialize', null))
      const { message } = await server.take('initialize')
      server.send({ jsonrpc: '2.0', id: message.id, result })
      expect((await answer).json).toEqual({ jsonrpc: '2.0', id: 1, result })
    }
  })

  test('several messages in one array are several messages', async () => {
    const { server, url, client } = await start()
    const answers = ['a', 'b'].map(name => call(url, rpc(name, 'tools/call'), client.headers))
    const ids = [await server.take('tools/call'), await server.take('tools/call')].map(
      line => line.message.id,
    )
    server.send(ids.map(id => ({ jsonrpc: '2.0', id, result: {} })))
    expect((await Promise.all(answers)).map(answer => answer.json.id)).toEqual(['a', 'b'])
  })
})

const escaped = (count: number) => `{${Array.from({ length: count }, (_, n) => `"\\u0061${n}":1`).join(',')}}`

test('a message with more escaped names than are read is skipped, and ends nothing else', async () => {
  const { server, url, client, log } = await start()
  const answer = call(url, rpc(1, 'tools/call'), client.headers)
  const { message } = await server.take('tools/call')
  for (const text of [
    `"method":"notifications/message","params":{"level":${escaped(10_001)},"data":"x"}`,
    `"method":"notifications/resources/updated","params":{"uri":${escaped(10_001)}}`,
    `"method":"notifications/progress","params":{"progressToken":${escaped(10_001)}}`,
    `"id":1,"method":"elicitation/create","params":{"mode":${escaped(10_001)}}`,
    `"id":${message.id},"result":{"task":{"taskId":${escaped(10_001)}}}`,
  ]) {
    server.raw(`{"jsonrpc":"2.0",${text}}\n`)
  }
  server.raw(`{"jsonrpc":"2.0","id":${message.id},"result":${escaped(10_000)}}\n`)
  expect(Object.keys((await answer).json.result)).toHaveLength(10_000)
  expect(log.filter(line => line.includes('not a message'))).toHaveLength(5)
})

test('requests that nobody responds to are limited in length', async () => {
  const server = createPuppet()
  const { url } = await startBridge({
    attachment: server.attachment,
    limits: { maxEventBytes: 10_000, maxTotalEventBytes: 12_000 },
  })
  const ask = (id: string, bytes: number) =>
    server.send({ jsonrpc: '2.0', id, method: 'roots/list', params: { x: 'x'.repeat(bytes) } })
  const refused = async (id: string) => {
    const { message } = await server.take(line => line.message.id === id)
    expect(message.error).toMatchObject({ code: -32000, message: expect.stringContaining('too many') })
  }
  const a = await open(url, { roots: {} })
  const reader = await stream(url, { headers: a.headers })
  ask('a long one', 11_000)
  const { json } = (await reader.next()) ?? {}
  ask('more', 10)
  await refused('more')
  await call(url, { jsonrpc: '2.0', id: json.id, result: { roots: [] } }, a.headers)
  await server.take(line => line.message.id === 'a long one')
  ask('one', 6000)
  ask('two', 6000)
  await refused('two')
  ask('three', 10)
  for (const bytes of [6000, 10]) expect((await reader.next())?.json.params.x).toHaveLength(bytes)
})

test('an array of more messages than anybody sends is skipped as a whole', async () => {
  const { server, url, client, log } = await start()
  const reader = await stream(url, { headers: client.headers })
  const changed = (n: number) => ({
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
    params: { n },
  })
  server.send(Array.from({ length: 10_001 }, (_, n) => changed(n)))
  server.send([changed(-1), changed(-2)])
  for (const n of [-1, -2]) expect((await reader.next())?.json.params.n).toBe(n)
  expect(log.filter(line => line.includes('not a message'))).toHaveLength(1)
})
