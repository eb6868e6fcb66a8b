import type { IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { testProxy, testServer } from '../proxy/test-proxy.ts'

/** A proxy that hides "secret" and renames "real" to "nice", and what reaches the server behind it. */
async function opened(config: Partial<RunConfig> = {}) {
  const reached: { body: string; headers: Record<string, unknown> }[] = []
  const target = await testServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    reached.push({ body: Buffer.concat(chunks).toString(), headers: request.headers })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}')
  })
  const proxy = await testProxy({
    target,
    middlewares: [toolsMiddleware()],
    config: { tools_deny: ['secret'], tools_override: { real: { name: 'nice' } }, ...config },
  })
  const send = async (body: string | Buffer, headers: Record<string, string> = {}, method = 'POST') => {
    const response = await fetch(`${proxy.origin}/mcp`, {
      ...{ method, body: typeof body === 'string' ? body : new Uint8Array(body) },
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }
  return { send, reached }
}

const call = (name: string, more = '') =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}"${more}}}`

test.each([
  ['its name', call('secret')],
  ['escapes in its name', call('se\\u0063ret')],
  ['escapes in the method', call('secret').replace('tools/call', 'tools\\/c\\u0061ll')],
  [
    'escapes in member names',
    call('secret').replace('"name"', '"n\\u0061me"').replace('"params"', '"\\u0070arams"'),
  ],
  ['the real name of a renamed one', call('real')],
  ['white space', call('secret').replaceAll(/([{,:])/g, '$1 \n\t')],
  ['other members first', call('secret', ',"arguments":{"name":"nice"}')],
])('a hidden tool is not found by %s', async (_name, body) => {
  const { send, reached } = await opened()
  const { status, type, text } = await send(body)
  expect({ status, type, ...JSON.parse(text) }).toMatchObject({
    ...{ status: 200, type: 'application/json', id: 1 },
    error: { code: -32602, message: expect.stringMatching(/^Unknown tool: (secret|real)$/) },
  })
  expect(reached).toEqual([])
})

test.each([
  ['a name twice', call('nice', ',"name":"secret"'), {}],
  ['a name twice, once escaped', call('nice', ',"n\\u0061me":"secret"'), {}],
  ['parameters twice', call('nice').replace(/}$/, ',"params":{"name":"secret"}}'), {}],
  ['a method twice', `{"method":"ping",${call('secret').slice(1)}`, {}],
  ['a batch', `[${call('secret')}]`, {}],
  ['a byte order mark', `\uFEFF${call('secret')}`, {}],
  ['no id', call('secret').replace('"id":1,', ''), {}],
  ['the id null', call('secret').replace('"id":1', '"id":null'), {}],
  ['no version', call('secret').replace('"jsonrpc":"2.0",', ''), {}],
  ['text behind it', `${call('secret')} {}`, {}],
  ['deep nesting', call('secret', `,"x":${'['.repeat(150_000)}${']'.repeat(150_000)}`), {}],
  ['a number that is none', call('secret', ',"x":NaN'), {}],
  ['a comment', `${call('secret')}//`, {}],
  ['gzip', gzipSync(call('secret')), { 'content-encoding': 'gzip' }],
  ['gzip that says nothing', gzipSync(call('secret')), {}],
  ['UTF-16', Buffer.from(call('secret'), 'utf16le'), {}],
  ['UTF-7', call('+AHM-ecret'), { 'content-type': 'application/json; charset=utf-7' }],
  ...[
    'application/json; x="; charset=utf-8"; charset=utf-7',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset="utf-8; charset=utf-7"',
    'application/json; charset = utf-7',
    'application/json; charset*=utf-7',
    'application/json; charset=us-ascii',
  ].map(type => [`the type ${type}`, call('+AHM-ecret'), { 'content-type': type }] as const),
  ['a method that is an array', call('secret').replace('"tools/call"', '["tools/call"]'), {}],
] as const)('a body with %s is refused', async (_name, body, headers) => {
  const { send, reached } = await opened()
  const { status, text } = await send(body as string, headers)
  expect(status).toBe(400)
  expect(JSON.parse(text)).toHaveProperty('error')
  expect(reached).toEqual([])
})

test('a body whose type says no more than UTF-8 is read', async () => {
  const { send, reached } = await opened()
  for (const type of ['charset=utf-8', 'charset="UTF-8"', 'charset=utf8; profile=x', '']) {
    expect((await send(call('nice'), { 'content-type': `application/json; ${type}` })).status).toBe(200)
  }
  expect(reached).toHaveLength(4)
})

test('a name that is not a text is refused', async () => {
  const { send, reached } = await opened()
  for (const name of ['["secret"]', '{"toString":"secret"}', 'null', '1']) {
    const { text } = await send(call('x').replace('"x"', name))
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: -32602 } })
  }
  expect(reached).toEqual([])
})

test('methods other than POST are judged too where they have a body', async () => {
  const { send, reached } = await opened()
  const { text } = await send(call('secret'), {}, 'PUT')
  expect(text).toContain('Unknown tool: secret')
  expect(reached).toEqual([])
})

test('only the name of a call changes', async () => {
  const { send, reached } = await opened()
  const more =
    ',"arguments":{"big":12345678901234567890,"one":1.0,"e":1e400,"ä":"\\u00e4","n":{"name":"nice"}},"x":[ ]'
  await send(call('nice', more))
  expect(reached[0]?.body).toBe(call('real', more))
})

test('fixed arguments are set, hidden ones are refused, others stay', async () => {
  const { send, reached } = await opened({
    tools_override: {
      real: { hidden_arguments: ['trace'], fixed_arguments: { root: '/srv', deep: { a: [1] } } },
    },
  })
  await send(call('real'))
  await send(call('real', ',"arguments":{"big":12345678901234567890}'))
  expect(reached.map(({ body }) => body)).toEqual([
    call('real', ',"arguments":{"root":"/srv","deep":{"a":[1]}}'),
    call('real', ',"arguments":{"big":12345678901234567890,"root":"/srv","deep":{"a":[1]}}'),
  ])
  for (const sent of ['{"root":"/"}', '{"r\\u006fot":"/"}', '{"trace":null}', '[]', 'null', '"root"']) {
    const { text } = await send(call('real', `,"arguments":${sent}`))
    expect([sent, JSON.parse(text).error?.code]).toEqual([sent, -32602])
  }
  expect(reached).toHaveLength(2)
})

test('headers that repeat the body say what the body says', async () => {
  const { send, reached } = await opened()
  await send(call('nice'), { 'mcp-method': 'ping', 'mcp-name': 'secret' })
  expect(reached[0]?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'real' })
  await send('{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-method': 'tools/call', 'mcp-name': 'secret' })
  expect(reached[1]?.headers).toMatchObject({ 'mcp-method': 'ping' })
  await send('{"jsonrpc":"2.0","id":1,"method":"pi\\u0000ng\\r\\n"}', { 'mcp-method': 'ping' })
  expect(reached[2]?.headers).toMatchObject({ 'mcp-method': '=?base64?cGkAbmcNCg==?=' })
})

test('headers that repeat hidden and fixed arguments say what the body says', async () => {
  const property = (header: string) => ({ type: 'string', 'x-mcp-header': header })
  const properties = { region: property('Region'), trace: property('Trace'), city: property('City') }
  const seen: IncomingHttpHeaders[] = []
  const target = await testServer((request, response) => {
    seen.push(request.headers)
    const tools = [{ name: 'real', inputSchema: { properties } }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: { supportedVersions: ['2026-07-28'], tools } }),
    )
  })
  const override = { hidden_arguments: ['trace'], fixed_arguments: { region: 'größer' } }
  const proxy = await testProxy({
    target,
    middlewares: [toolsMiddleware()],
    config: { tools_override: { real: override }, stateless: true },
  })
  await fetch(`${proxy.origin}/mcp`, {
    method: 'POST',
    body: call('real', ',"arguments":{"city":"x"}'),
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json', 'mcp-method': 'tools/call' },
      ...{ 'mcp-param-region': 'other', 'mcp-param-trace': 'on', 'mcp-param-city': 'x' },
    },
  })
  const sent = seen.find(headers => headers['mcp-method'] === 'tools/call')
  expect(sent).toMatchObject({ 'mcp-param-region': '=?base64?Z3LDtsOfZXI=?=', 'mcp-param-city': 'x' })
  expect(sent).not.toHaveProperty('mcp-param-trace')
})

test('a client that takes only events gets the refusal as an event', async () => {
  const { send } = await opened()
  const { status, type, text } = await send(call('secret'), { accept: 'text/event-stream' })
  expect([status, type]).toEqual([200, 'text/event-stream'])
  expect(text).toMatch(/^event: message\ndata: \{"jsonrpc":"2.0","id":1,"error":\{"code":-32602,.*}\n\n$/)
})

test('the name of a hidden tool that differs by more than escapes is another tool', async () => {
  const { send, reached } = await opened({ tools_filter: ['get_*'], tools_deny: ['get_*_all'] })
  for (const name of ['Get_a', 'xget_a', 'get_x_all', ' get_a', `get_${'a'.repeat(300)}`, 'get', 'secret']) {
    expect((await send(call(name))).text).toContain('Unknown tool')
  }
  expect(reached).toEqual([])
  await send(call('get_a.b'))
  expect(reached).toHaveLength(1)
})

test('only tools that the server calls read-only are shown and called, also before a client has listed them', async () => {
  const tools =
    '{"name":"r","annotations":{"readOnlyHint":true}},{"name":"w"},{"name":"v","annotations":{"readOnlyHint":"true"}}'
  const target = await testServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools}]}}`)
  })
  const proxy = await testProxy({
    target,
    middlewares: [toolsMiddleware()],
    config: { tools_read_only: true },
  })
  const send = async (body: string) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    return (await fetch(`${proxy.origin}/mcp`, { method: 'POST', body, headers })).text()
  }
  expect(await send(call('r'))).toContain('"result"')
  expect(await send(call('w'))).toContain('Unknown tool: w')
  const list = await send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
  expect(JSON.parse(list).result.tools.map(({ name }: { name: string }) => name)).toEqual(['r'])
  expect(await send(call('v'))).toContain('Unknown tool: v')
})
