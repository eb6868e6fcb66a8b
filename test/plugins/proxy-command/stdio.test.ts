import { describe, expect, test } from 'vitest'
import { createPuppet } from '../proxy/bridge/puppet-server.ts'
import { startBridge } from '../proxy/bridge/start-bridge.ts'
import { startStatelessServer } from '../proxy/stateless-http/stateless-server.ts'
import { stdioClient } from './stdio-client.ts'

const call = (id: string | number, params: unknown = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params,
})

describe.each(['streamable-http', 'sse'] as const)('over %s', mode => {
  async function open(params?: Record<string, unknown>) {
    const server = createPuppet({ initialize: { capabilities: { resources: {}, logging: {} } } })
    const bridge = await startBridge({ attachment: server.attachment, mode })
    const url = mode === 'sse' ? `${bridge.origin}/sse` : bridge.url
    const client = stdioClient(url, { mode })
    await client.initialize(params)
    await server.take('notifications/initialized')
    return { server, client, bridge }
  }

  test('text crosses unaltered in both directions', async () => {
    const { server, client } = await open()
    const odd = '{"n":12345678901234567890,"f":1.0,"e":1E+2,"u":"\\u00fc \\/ größer 🙂","x-unknown":[[],{}]}'
    client.write(`{"id":"a\\u0062", "jsonrpc" : "2.0","method":"tools/call","params":${odd},"extra":${odd}}`)
    const { text, message } = await server.take('tools/call')
    expect(text).toContain(`"params":${odd},"extra":${odd}`)
    server.raw(`{"jsonrpc":"2.0","id":${message.id},"result":${odd},"more":${odd}}\n`)
    await client.response('ab')
    expect(client.lines.at(-1)).toContain(`"id":"a\\u0062","result":${odd},"more":${odd}`)
  })

  test('the server asks the client in the middle of a call', async () => {
    const { server, client } = await open({ capabilities: { sampling: {}, elicitation: {}, roots: {} } })
    client.send(call(1))
    const { message } = await server.take('tools/call')
    for (const method of ['sampling/createMessage', 'elicitation/create', 'roots/list']) {
      server.send({ jsonrpc: '2.0', id: method, method, params: { for: method } })
      const asked = await client.take(it => it.method === method)
      expect(asked.params).toEqual({ for: method })
      client.send({ jsonrpc: '2.0', id: asked.id, result: { of: method } })
      expect((await server.take(line => line.message.id === method)).message.result).toEqual({ of: method })
    }
    server.send({ jsonrpc: '2.0', id: message.id, result: 'done' })
    expect(await client.response(1)).toMatchObject({ result: 'done' })
  })

  test('progress arrives before the response, and messages of the server come without a call', async () => {
    const { server, client } = await open()
    client.send(call(1, { _meta: { progressToken: 'p' } }))
    const { message } = await server.take('tools/call')
    for (const progress of [1, 2, 3]) {
      const progressToken = message.params._meta.progressToken
      server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } })
    }
    server.send({ jsonrpc: '2.0', id: message.id, result: {} })
    await client.response(1)
    const seen = client.lines.map(line => JSON.parse(line)).slice(1)
    expect(seen.map(it => it.params?.progress ?? it.id)).toEqual([1, 2, 3, 1])
    expect(seen[0].params.progressToken).toBe('p')
    server.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    await client.take(it => it.method === 'notifications/tools/list_changed')
  })

  test('a cancellation reaches the server with the id that it knows, and no response follows', async () => {
    const { server, client } = await open()
    client.send(call('long'))
    const { message } = await server.take('tools/call')
    client.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'long', reason: 'r' },
    })
    const cancel = await server.take('notifications/cancelled')
    expect(cancel.message.params).toEqual({ requestId: message.id, reason: 'r' })
    client.send(call('next'))
    server.send({ jsonrpc: '2.0', id: (await server.take('tools/call')).message.id, result: {} })
    await client.response('next')
    expect(client.lines.filter(line => JSON.parse(line).id === 'long')).toEqual([])
  })

  test('a lost session is opened again: the call in flight fails, what the client set is set again', async () => {
    const { client, server, bridge } = await open()
    for (const [id, method, params] of [
      [1, 'resources/subscribe', { uri: 'a://1' }],
      [2, 'resources/subscribe', { uri: 'a://2' }],
      [3, 'resources/unsubscribe', { uri: 'a://2' }],
      [4, 'logging/setLevel', { level: 'info' }],
    ] as const) {
      client.send({ jsonrpc: '2.0', id, method, params })
      server.send({ jsonrpc: '2.0', id: (await server.take(method)).message.id, result: {} })
      await client.response(id)
    }
    client.send(call('lost'))
    await server.take('tools/call')

    const second = createPuppet({ initialize: { capabilities: { resources: {}, logging: {} } } })
    const next = await startBridge({ attachment: second.attachment, mode })
    client.move(mode === 'sse' ? `${next.origin}/sse` : next.url)
    await bridge.close()
    expect(await client.response('lost')).toMatchObject({ error: { code: -32000 } })
    client.send(call('after'))
    expect((await second.take('initialize')).message.params).toEqual(
      (await server.take('initialize')).message.params,
    )
    const again = async (method: string) => {
      const { message } = await second.take(method)
      second.send({ jsonrpc: '2.0', id: message.id, result: {} })
      return message.params
    }
    expect(await again('logging/setLevel')).toEqual({ level: 'info' })
    expect(await again('resources/subscribe')).toEqual({ uri: 'a://1' })
    const { message } = await second.take('tools/call')
    second.send({ jsonrpc: '2.0', id: message.id, result: 'again' })
    expect(await client.response('after')).toMatchObject({ result: 'again' })
    second.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a://1' } })
    expect(await client.take(it => it.method === 'notifications/resources/updated')).toBeDefined()
    expect(client.lines.filter(line => line.includes('keelson-proxy-stdio'))).toEqual([])
  })
})

test('a broken event stream is resumed, and no event is lost or comes twice', async () => {
  const server = createPuppet()
  const bridge = await startBridge({ attachment: server.attachment })
  const client = stdioClient(bridge.url)
  await client.initialize()
  client.send(call(1, { _meta: { progressToken: 'p' } }))
  const { message } = await server.take('tools/call')
  const { progressToken } = message.params._meta
  for (let progress = 1; progress <= 6; progress += 1) {
    server.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } })
    if (progress % 2) await client.take(it => it.params?.progress === progress)
    if (progress % 2) bridge.cut()
  }
  server.send({ jsonrpc: '2.0', id: message.id, result: 'whole' })
  expect(await client.response(1)).toMatchObject({ result: 'whole' })
  const seen = client.lines.map(line => JSON.parse(line).params?.progress).filter(Boolean)
  expect(seen).toEqual([1, 2, 3, 4, 5, 6])
})

test('calls that nothing takes for the time allowed fail; later ones succeed', async () => {
  const server = createPuppet()
  const bridge = await startBridge({ attachment: server.attachment })
  const client = stdioClient('http://127.0.0.1:1/mcp', { patienceMs: 200 })
  client.send(call(1))
  expect(await client.response(1)).toMatchObject({
    error: { message: expect.stringContaining('ECONNREFUSED') },
  })
  client.move(bridge.url)
  await client.initialize()
})

test('the end of standard input ends the proxy after the calls in flight, and ends the session', async () => {
  const server = createPuppet()
  const bridge = await startBridge({ attachment: server.attachment })
  const client = stdioClient(bridge.url)
  await client.initialize()
  client.send(call(1))
  const { message } = await server.take('tools/call')
  const ended = client.end()
  server.send({ jsonrpc: '2.0', id: message.id, result: 'last' })
  await ended
  expect(await client.response(1)).toMatchObject({ result: 'last' })
  expect(bridge.log.join('')).not.toContain('error')
})

describe('lines that are not one message', () => {
  const giant = (id: string, bytes: number) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"text":"${'x'.repeat(bytes)}"}}`
  const twice = '{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}'
  const deep = `{"jsonrpc":"2.0","id":9,"method":"ping","params":${'['.repeat(200_000)}}`
  test.each([
    ['broken JSON', '{"jsonrpc":"2.0","id":1,', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['an id that stands twice', twice, -32600],
    ['a line without a version', '{"id":1,"method":"ping"}', -32600],
    ['no object', '"ping"', -32700],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), -32700],
    ['nesting without end', deep, -32700],
    ['more than 8 MiB', giant('5', 9 * 1024 * 1024), -32600],
  ])('%s gets an error, and the next line passes', async (_, line, code) => {
    const server = createPuppet()
    const bridge = await startBridge({ attachment: server.attachment })
    const client = stdioClient(bridge.url)
    await client.initialize()
    client.write(line)
    const { error, id } = await client.take(message => message.error !== undefined)
    expect({ code: error.code, id }).toEqual({
      code,
      id: line === giant('5', 9 * 1024 * 1024) ? 5 : undefined,
    })
    await client.initialize()
  })

  test('a megabyte crosses whole in both directions, in pieces and beside others', async () => {
    const server = createPuppet()
    const bridge = await startBridge({ attachment: server.attachment })
    const client = stdioClient(bridge.url)
    await client.initialize()
    const text = 'größer 🙂'.repeat(100_000)
    for (const id of [1, 2, 3]) client.send(call(id, { text }))
    for (let left = 3; left > 0; left -= 1) {
      const { message } = await server.take('tools/call')
      server.send({ jsonrpc: '2.0', id: message.id, result: { text: message.params.text } })
    }
    for (const id of [1, 2, 3]) expect((await client.response(id)).result.text).toBe(text)
  })

  test('whatever comes on standard input, the proxy goes on and writes only JSON lines', async () => {
    const { default: fc } = await import('fast-check')
    const server = createPuppet()
    const bridge = await startBridge({ attachment: server.attachment })
    const client = stdioClient(bridge.url)
    await client.initialize()
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.constantFrom(
        '{',
        '}',
        '"',
        '\\',
        '\r',
        '\0',
        '{"jsonrpc":"2.0"',
        ',"id":1',
        ',"method":"ping"',
        ',"id":{}}',
      ),
    )
    const lines = fc.sample(fc.array(piece, { maxLength: 8 }), { numRuns: 300, seed: 7 })
    for (const parts of lines) client.write(parts.join('').replaceAll('\n', ' '))
    await client.initialize()
    for (const line of client.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  })
})

test('a tool with an invalid x-mcp-header is not passed on, and the others get their headers', async () => {
  const schema = (header: string) => ({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': header } },
  })
  const tools = [
    { name: 'bad', inputSchema: schema('a b') },
    { name: 'place', inputSchema: schema('Region') },
  ]
  const { origin, received } = await startStatelessServer({
    respond({ message: { id, method } }, response) {
      if (method !== 'tools/list') return false
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', tools } }))
      return true
    },
  })
  const client = stdioClient(`${origin}/mcp`)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }

  client.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list', params: { _meta } })
  expect((await client.response('list')).result).toEqual({ resultType: 'complete', tools: tools.slice(1) })
  client.send(call('call', { name: 'place', arguments: { region: 'x' }, _meta }))
  expect((await client.response('call')).result.content).toEqual([{ type: 'text', text: 'nobody' }])

  expect(received('tools/call').map(({ headers }) => headers['mcp-param-region'])).toEqual(['x'])
  expect(client.logged.join('')).toContain('The tool \\"bad\\" is left out')
})
