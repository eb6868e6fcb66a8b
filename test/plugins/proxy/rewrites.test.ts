import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { MiddlewareFactory, RewriteResult } from '../../../src/contracts/pipeline.ts'
import { rewriteItems } from '../../../src/net/list-result.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

/** Leaves out the tools whose names begin with "secret". */
const hide: RewriteResult = result =>
  rewriteItems(result, 'tools', ({ name, text }) => (name.startsWith('secret') ? undefined : text))

const factory =
  (rewrite: RewriteResult): MiddlewareFactory =>
  async () => ({
    name: 'hide',
    stage: 'tools',
    rewrites: new Map([['tools/list', rewrite]]),
    wrap: next => next,
  })

const MEMBERS =
  '"nextCursor":"c\\u0031","_meta":{"big":12345678901234567890,"one":1.0},"extra":[1,{"a":null}]'
const OPEN = '{"name":"open","title":"Öffnen","icons":[{"src":"a"}],"x":1e400}'
const list = (id: string, tools = `${OPEN},{"name":"secret-a"},{"\\u006eame":"se\\u0063ret-b"}`) =>
  `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${tools}],${MEMBERS}}}`
const shown = (id: string) => list(id, OPEN)

/** A server that responds to each request with these bytes. */
async function opened(
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
  options: { rewrite?: RewriteResult; status?: number } = {},
) {
  const seen: Record<string, unknown>[] = []
  const target = await testServer((request, response) => {
    seen.push(request.headers)
    response.writeHead(options.status ?? 200, headers)
    response.end(body)
  })
  const proxy = await testProxy({ target, middlewares: [factory(options.rewrite ?? hide)] })
  const ask = async (method = 'tools/list', more: Record<string, string> = {}) =>
    post(`${proxy.origin}/mcp`, rpc(method, 7), more)
  return { proxy, ask, seen }
}

const event = (data: string, more = '') => `event: message\n${more}data: ${data}\n\n`
const STREAM = { 'content-type': 'text/event-stream' }

test('a list in JSON keeps all but what is left out, byte for byte', async () => {
  const { ask, seen } = await opened(list('7'), {
    ...{ 'content-type': 'application/json', etag: '"a"', 'x-own': 'b' },
    'content-length': String(Buffer.byteLength(list('7'))),
  })
  const response = await ask('tools/list', { 'accept-encoding': 'gzip' })
  expect(await response.text()).toBe(shown('7'))
  expect(response.headers.get('etag')).toBeNull()
  expect(response.headers.get('x-own')).toBe('b')
  expect(seen[0]?.['accept-encoding']).toBe('identity')
})

test.each([
  ['JSON', (text: string) => text, undefined],
  ['events', event, STREAM],
] as const)('a list of several megabytes in %s is rewritten', async (_name, format, headers) => {
  const tools = Array.from(
    { length: 5000 },
    (_, at) => `{"name":"secret-${at}","x":"${'y'.repeat(1000)}"},${OPEN}`,
  )
  const { ask } = await opened(format(list('7', tools.join(','))), headers)
  expect(await (await ask()).text()).toBe(format(list('7', Array(5000).fill(OPEN).join(','))))
})

test('a response in events whose id is written with an escape is followed by no error', async () => {
  const { proxy } = await opened(event(list('"\\u0061"')), STREAM)
  const response = await post(`${proxy.origin}/mcp`, rpc('tools/list', 'a'))
  expect(await response.text()).toBe(event(shown('"\\u0061"')))
})

test('a method that nobody rewrites passes as it is, also compressed', async () => {
  const { ask } = await opened(gzipSync(list('7')), {
    ...{ 'content-type': 'application/json', 'content-encoding': 'gzip', etag: '"a"' },
  })
  const response = await ask('tools/call', { 'accept-encoding': 'gzip' })
  expect(response.headers.get('etag')).toBe('"a"')
  expect(await response.text()).toBe(list('7'))
})

test.each([
  ['\n', event(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)],
  ['\r\n', ': comment\r\n\r\n'],
  ['\r', 'retry: 5\r\r'],
])('events that end with %j are rewritten, others stay as they are', async (end, before) => {
  const lines = ['id: 4', `data: ${list('7').replace('"result"', `${end}data: "result"`)}`, '', '']
  const { ask } = await opened(before + lines.join(end), STREAM)
  const text = await (await ask()).text()
  expect(text).toBe(`${before}id: 4\ndata: ${shown('7').replace('"result"', ' "result"')}\n\n`)
})

test.each([
  ['not JSON', '<html>secret-a</html>', { 'content-type': 'text/html' }],
  ['not a list', '{"jsonrpc":"2.0","id":7,"result":{"tool":["secret-a"]}}', undefined],
  ['a result that is an array', '{"jsonrpc":"2.0","id":7,"result":["secret-a"]}', undefined],
  ['an item that is a text', list('7', '"secret-a"'), undefined],
  ['an item without a name', list('7', '{"title":"secret-a"}'), undefined],
  ['a name that is not a text', list('7', '{"name":["secret-a"]}'), undefined],
  ['a list twice', list('7', `${OPEN}],"tools":[{"name":"secret-a"}`), undefined],
  ['a list twice, once escaped', list('7', `${OPEN}],"\\u0074ools":[{"name":"secret-a"}`), undefined],
  ['a result twice', `{"result":{"tools":[]},${list('7').slice(1)}`, undefined],
  ['a name twice', list('7', '{"name":"open","name":"secret-a"}'), undefined],
  ['a method and a result', `{"method":"x",${list('7').slice(1)}`, undefined],
  ['no version', list('7').replace('"jsonrpc":"2.0",', ''), undefined],
  ['a number that is none', list('7', `${OPEN},{"name":"secret-a","x":NaN}`), undefined],
  ['text behind it', `${list('7')} secret-a`, undefined],
  ['deep nesting', list('7', `{"name":"secret-a","x":${'['.repeat(200_000)}`), undefined],
  ['events that are labelled JSON', event(list('7')), undefined],
  ['an event without an end', `event: message\ndata: ${list('7')}\n`, STREAM],
  ['JSON that is labelled events', list('7'), STREAM],
  ['an event that is not JSON', event('secret-a'), STREAM],
  ['an event with a mark before the text', event(`\uFEFF${list('7')}`), STREAM],
  ['gzip', gzipSync(list('7')), { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
] as const)('of a list that cannot be read nothing reaches the client: %s', async (_name, body, headers) => {
  const { ask } = await opened(body as string | Buffer, headers)
  const text = await (await ask()).text()
  expect(text).not.toContain('secret')
  const message = JSON.parse(text.startsWith('event') ? (text.split('data: ', 2)[1] as string) : text)
  expect(message).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32000 } })
})

test.each([
  ['plain text', list('7'), { 'content-type': 'text/plain' }],
  ['no type', list('7'), {}],
  ['a byte order mark', `\uFEFF${list('7')}`, undefined],
  ['an array of one response', `[${list('7')}]`, undefined],
  ['an id that is written in another way', list('"a"'), undefined],
] as const)('a list with %s is rewritten', async (_name, body, headers) => {
  const { proxy } = await opened(body, headers)
  const text = await (
    await post(`${proxy.origin}/mcp`, rpc('tools/list', body.includes('"a"') ? 'a' : 7))
  ).text()
  expect(text).toContain('open')
  expect(text).not.toContain('secret')
})

test('a list in the response to another request of the same id is found by its shape on event streams', async () => {
  const { proxy } = await opened(`${event(list('3'), 'id: 9\n')}${event(list('"x"'))}`, STREAM)
  const replay = await fetch(`${proxy.origin}/mcp`, {
    headers: { accept: 'text/event-stream', 'last-event-id': '1' },
  })
  expect(await replay.text()).toBe(
    `event: message\nid: 9\ndata: ${shown('3')}\n\nevent: message\ndata: ${shown('"x"')}\n\n`,
  )
})

test('an event stream that is labelled otherwise is rewritten where the client asked for one', async () => {
  const { proxy } = await opened(event(list('3')), { 'content-type': 'application/json' })
  const replay = await fetch(`${proxy.origin}/mcp`, { headers: { accept: 'text/event-stream' } })
  expect(await replay.text()).toBe(event(shown('3')))
})

test('a body that is not one message gets no list', async () => {
  const { proxy, seen } = await opened(list('7'))
  const body = Buffer.from(rpc('tools/list', 7).replace('tools', '+AHQ-ools'))
  const response = await fetch(`${proxy.origin}/mcp`, {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json; charset=utf-7', accept: 'application/json' },
  })
  expect(seen).toHaveLength(1)
  expect(await response.text()).toBe(shown('7'))
})

test('an error of a rewrite replaces the result', async () => {
  const { ask, proxy } = await opened(list('7'), undefined, {
    rewrite: () => {
      throw new Error('the policy is gone')
    },
  })
  const response = await ask()
  expect(await response.json()).toEqual({
    ...{ jsonrpc: '2.0', id: 7 },
    error: { code: -32603, message: 'Internal error' },
  })
  expect(proxy.logged.join()).toContain('the policy is gone')
})

test('a response that is not a success passes, unless a result is in it', async () => {
  const { ask } = await opened('<h1>Busy</h1>', { 'content-type': 'text/html' }, { status: 503 })
  const busy = await ask()
  expect([busy.status, await busy.text()]).toEqual([503, '<h1>Busy</h1>'])
  const other = await opened(list('7'), undefined, { status: 500 })
  expect(await (await other.ask()).text()).toBe(shown('7'))
})

test('the innermost rewrite is the first', async () => {
  const target = await testServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(list('7'))
  })
  const order: string[] = []
  const note =
    (stage: 'tools' | 'authorize'): MiddlewareFactory =>
    async () => ({
      ...{ name: stage, stage, wrap: next => next },
      rewrites: new Map([
        [
          'tools/list',
          (result: string) => {
            order.push(stage)
            return result
          },
        ],
      ]),
    })
  const proxy = await testProxy({ target, middlewares: [note('tools'), note('authorize')] })
  expect(await (await post(`${proxy.origin}/mcp`, rpc('tools/list', 7))).text()).toBe(list('7'))
  expect(order).toEqual(['authorize', 'tools'])
})

test('a client that goes away ends the request to the server while its list is read', async () => {
  let ended = false
  const target = await testServer((_request, response) => {
    response.writeHead(200, STREAM).write(event('{"jsonrpc":"2.0","method":"notifications/progress"}'))
    response.on('close', () => (ended = true))
  })
  const proxy = await testProxy({ target, middlewares: [factory(hide)] })
  const abort = new AbortController()
  const response = await fetch(`${proxy.origin}/mcp`, {
    ...{ method: 'POST', body: rpc('tools/list', 7), signal: abort.signal },
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  })
  await response.body?.getReader().read()
  abort.abort()
  await expect.poll(() => ended).toBe(true)
})
