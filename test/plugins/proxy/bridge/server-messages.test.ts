import { describe, expect, test } from 'vitest'
import { call, open, rpc, stream } from './raw-client.ts'
import { log, start } from './start-clients.ts'

describe('log messages', () => {
  test('go to the only session', async () => {
    const { server, join } = await start()
    const { reader } = await join()
    server.send(log('info', 'hello'))
    expect((await reader.next())?.json).toEqual(log('info', 'hello'))
  })

  test('with two sessions go to the only one at work, and to nobody when that is unclear', async () => {
    const { server, join, url, mark } = await start()
    const [a, b] = [await join(), await join()]
    server.send(log('info', 'nobody at work'))
    const work = call(url, rpc(1, 'tools/call'), a.headers)
    const first = await server.take('tools/call')
    server.send(log('info', 'a at work'))
    const more = call(url, rpc(1, 'tools/call'), b.headers)
    const second = await server.take('tools/call')
    server.send(log('info', 'both at work'))
    expect(await mark(a.reader, b.reader)).toEqual([[JSON.stringify(log('info', 'a at work'))], []])
    for (const { message } of [first, second]) server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await Promise.all([work, more])
  })

  test('a request without a session that is at work counts too', async () => {
    const { server, join, url, mark } = await start()
    const a = await join()
    const anonymous = await stream(url, { body: rpc(1, 'tools/call') })
    const { message } = await server.take('tools/call')
    server.send(log('info', 'yours'))
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    expect((await anonymous.rest()).map(event => event.json.params?.data)).toEqual(['yours', undefined])
    expect(await mark(a.reader)).toEqual([[]])
  })

  test('the server gets the most verbose level, each session gets messages of its own', async () => {
    const { server, join, url, mark } = await start()
    const [a, b] = [await join(), await join()]
    const set = async (headers: Record<string, string>, level: string) => {
      const answer = call(url, rpc(1, 'logging/setLevel', { level }), headers)
      return answer
    }
    const first = set(a.headers, 'warning')
    const asked = await server.take('logging/setLevel')
    expect(asked.message.params).toEqual({ level: 'warning' })
    server.send({ jsonrpc: '2.0', id: asked.message.id, result: {} })
    await first
    expect((await set(b.headers, 'error')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(server.received('logging/setLevel')).toHaveLength(1)
    const work = call(url, rpc(1, 'tools/call'), b.headers)
    const { message } = await server.take('tools/call')
    server.send(log('warning', 'too low for b'))
    server.send(log('error', 'for b'))
    expect(await mark(a.reader, b.reader)).toEqual([[], [JSON.stringify(log('error', 'for b'))]])
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await work
    await call(url, undefined, a.headers, 'DELETE')
    expect((await server.take('logging/setLevel')).message.params).toEqual({ level: 'error' })
  })
})

describe('resource subscriptions', () => {
  test('only the first subscribe and the last unsubscribe reach the server, updates only those who subscribed', async () => {
    const { server, join, url, mark } = await start()
    const [a, b, c] = [await join(), await join(), await join()]
    const subscribe = (headers: Record<string, string>, method = 'resources/subscribe') =>
      call(url, rpc('s', method, { uri: 'file:///a' }), headers)
    const first = subscribe(a.headers)
    server.send({ jsonrpc: '2.0', id: (await server.take('resources/subscribe')).message.id, result: {} })
    expect((await first).json).toEqual({ jsonrpc: '2.0', id: 's', result: {} })
    expect((await subscribe(b.headers)).json).toEqual({ jsonrpc: '2.0', id: 's', result: {} })
    expect(server.received('resources/subscribe')).toHaveLength(1)
    const updated = {
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'file:///a/b' },
    }
    server.send(updated)
    expect(await mark(a.reader, b.reader, c.reader)).toEqual([
      [JSON.stringify(updated)],
      [JSON.stringify(updated)],
      [],
    ])
    // A session without a subscription cannot end that of others.
    expect((await subscribe(c.headers, 'resources/unsubscribe')).json.result).toEqual({})
    await subscribe(a.headers, 'resources/unsubscribe')
    expect(server.received('resources/unsubscribe')).toEqual([])
    const last = subscribe(b.headers, 'resources/unsubscribe')
    server.send({ jsonrpc: '2.0', id: (await server.take('resources/unsubscribe')).message.id, result: {} })
    expect((await last).status).toBe(200)
  })

  test('a refused subscription is not recorded', async () => {
    const { server, join, url, mark } = await start()
    const a = await join()
    const refused = call(url, rpc(1, 'resources/subscribe', { uri: 'x' }), a.headers)
    server.send({
      jsonrpc: '2.0',
      id: (await server.take('resources/subscribe')).message.id,
      error: { code: -32002, message: 'no' },
    })
    expect((await refused).json.error.code).toBe(-32002)
    server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'x' } })
    expect(await mark(a.reader)).toEqual([[]])
  })

  test('a subscription needs a session', async () => {
    const { url } = await start()
    expect((await call(url, rpc(1, 'resources/subscribe', { uri: 'x' }))).json.error.code).toBe(-32600)
  })
})

describe('requests of the server', () => {
  const sampling = (id: unknown) => ({
    jsonrpc: '2.0',
    id,
    method: 'sampling/createMessage',
    params: { messages: [] },
  })

  test('go to the only client that can take them, and the response comes back under the server’s id', async () => {
    const { server, join, url, mark } = await start()
    const [a, b] = [await join({ sampling: {} }), await join()]
    server.raw('{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{"maxTokens":1.0}}\n')
    const asked = await a.reader.next()
    expect(asked?.data).toBe(
      `{"jsonrpc":"2.0","id":${asked?.json.id},"method":"sampling/createMessage","params":{"maxTokens":1.0}}`,
    )
    // Somebody else's answer is not taken.
    expect(
      (await call(url, { jsonrpc: '2.0', id: asked?.json.id, result: 'forged' }, b.headers)).status,
    ).toBe(202)
    const body = `{"jsonrpc":"2.0","id":${asked?.json.id},"result":{"n":1.0}}`
    expect((await call(url, body, a.headers)).status).toBe(202)
    const answered = await server.take(line => line.message.id === 's-1')
    expect(answered.text).toBe('{"jsonrpc":"2.0","id":"s-1","result":{"n":1.0}}')
    expect(await mark(b.reader)).toEqual([[]])
    // The same answer again finds no question.
    await call(url, body, a.headers)
    await call(url, { jsonrpc: '2.0', method: 'notifications/flush' }, a.headers)
    await server.take('notifications/flush')
    expect(server.lines.filter(line => line.message.id === 's-1')).toHaveLength(1)
  })

  test('travel on the stream of the request they belong to', async () => {
    const { server, join, url } = await start()
    const [a] = [await join({ elicitation: {} }), await join({ elicitation: {} })]
    const reader = await stream(url, { body: rpc(1, 'tools/call'), headers: a.headers })
    await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: 5, method: 'elicitation/create', params: { message: 'name?' } })
    expect((await reader.next())?.json.params).toEqual({ message: 'name?' })
  })

  test.each([
    ['no client can', [{}], undefined],
    ['two can and nobody is at work', [{ sampling: {} }, { sampling: {} }], undefined],
    ['the one at work cannot', [{ sampling: {} }, {}], [1]],
    ['several are at work', [{ sampling: {} }, {}], [0, 1]],
  ])('are refused with -32601 when %s', async (_what, clients, atWork) => {
    const { server, join, url, mark } = await start()
    const joined: Awaited<ReturnType<typeof join>>[] = []
    for (const capabilities of clients) joined.push(await join(capabilities))
    for (const index of atWork ?? []) {
      void call(url, rpc(1, 'tools/call'), joined[index]?.headers).catch(() => {})
      await server.take('tools/call')
    }
    server.send(sampling(77))
    expect((await server.take(line => line.message.id === 77)).message.error.code).toBe(-32601)
    expect((await mark(...joined.map(({ reader }) => reader))).flat()).toEqual([])
  })

  test('need the exact capability: tools in sampling, the mode of an elicitation', async () => {
    const { server, join } = await start()
    await join({ sampling: {}, elicitation: { form: {} } })
    server.send({ ...sampling(801), params: { tools: [] } })
    server.send({ jsonrpc: '2.0', id: 802, method: 'elicitation/create', params: { mode: 'url', url: 'x:' } })
    for (const id of [801, 802]) {
      expect((await server.take(line => line.message.id === id)).message.error.code).toBe(-32601)
    }
  })

  test('a ping is answered by the bridge', async () => {
    const { server } = await start()
    server.raw('{"jsonrpc":"2.0","id":1.50,"method":"ping"}\n')
    expect((await server.take(line => line.message.id === 1.5)).text).toBe(
      '{"jsonrpc":"2.0","id":1.50,"result":{}}',
    )
  })

  test('roots are asked of the only client that has some, while nobody is at work', async () => {
    const { server, join } = await start()
    const [a] = [await join({ roots: {} }), await join()]
    server.send({ jsonrpc: '2.0', id: 9, method: 'roots/list' })
    expect((await a.reader.next())?.json.method).toBe('roots/list')
  })

  test('the server can take a request back', async () => {
    const { server, join } = await start()
    const a = await join({ sampling: {} })
    server.send(sampling(3))
    const asked = await a.reader.next()
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3, reason: 'no' } })
    expect((await a.reader.next())?.json.params).toEqual({ requestId: asked?.json.id, reason: 'no' })
  })

  test('when the client disconnects the server gets an error', async () => {
    const { server, join, url } = await start()
    const a = await join({ sampling: {} })
    server.send(sampling(4))
    await a.reader.next()
    await call(url, undefined, a.headers, 'DELETE')
    expect((await server.take(line => line.message.id === 4)).message.error.code).toBe(-32000)
  })

  test('progress of the client passes only on what it was asked', async () => {
    const { server, join, url } = await start()
    const a = await join({ sampling: {} })
    const b = await join()
    server.send({ ...sampling(5), params: { _meta: { progressToken: 'tok' } } })
    await a.reader.next()
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'tok', progress: 1 },
    }
    await call(url, progress, b.headers)
    await call(url, progress, a.headers)
    await call(url, { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, a.headers)
    await server.take('notifications/roots/list_changed')
    expect(server.received('notifications/progress')).toHaveLength(1)
  })
})

describe('cancelling', () => {
  test('reaches the server with the id that it knows, and ends the stream without a response', async () => {
    const { server, url } = await start()
    const [a, b] = [await open(url), await open(url)]
    const reader = await stream(url, { body: rpc(1, 'tools/call'), headers: a.headers })
    const other = call(url, rpc(1, 'tools/call'), b.headers)
    const mine = await server.take('tools/call')
    const theirs = await server.take('tools/call')
    const note = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'enough', x: 1 },
    }
    expect((await call(url, note, a.headers)).status).toBe(202)
    expect((await server.take('notifications/cancelled')).message.params).toEqual({
      requestId: mine.message.id,
      reason: 'enough',
      x: 1,
    })
    expect(await reader.rest()).toEqual([])
    server.send({ jsonrpc: '2.0', id: theirs.message.id, result: 'well' })
    expect((await other).json.result).toBe('well')
    await call(url, { ...note, params: { requestId: '1' } }, a.headers)
    await call(url, { jsonrpc: '2.0', method: 'notifications/flush' }, a.headers)
    await server.take('notifications/flush')
    expect(server.received('notifications/cancelled')).toHaveLength(1)
  })
})

describe('tasks', () => {
  test('news of a task go to the session that started it', async () => {
    const { server, join, url, mark } = await start()
    const [a, b] = [await join({ elicitation: {} }), await join({ elicitation: {} })]
    const body = rpc(1, 'tools/call', { task: {}, _meta: { progressToken: 'late' } })
    const created = call(url, body, a.headers)
    const { message } = await server.take('tools/call')
    server.send({ jsonrpc: '2.0', id: message.id, result: { task: { taskId: 't1', status: 'working' } } })
    await created
    server.send({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId: 't1' } })
    expect((await a.reader.next())?.json.params).toEqual({ taskId: 't1' })
    server.send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: message.id, progress: 1 },
    })
    expect((await a.reader.next())?.json.params).toEqual({ progressToken: 'late', progress: 1 })
    const meta = { 'io.modelcontextprotocol/related-task': { taskId: 't1' } }
    server.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'elicitation/create',
      params: { message: '?', _meta: meta },
    })
    expect((await a.reader.next())?.json.method).toBe('elicitation/create')
    expect(await mark(b.reader)).toEqual([[]])
  })
})
