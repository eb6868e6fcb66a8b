import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { rpc } from '../proxy/test-proxy.ts'
import { keepingServer, named, sendJson, sendTo, testWebhook, webhookProxy } from './webhook-world.ts'

const drop = rpc('tools/call', 1, { name: 'drop', arguments: {} })

/** Bodies that some server could take for a call of the tool. */
const BODIES: [string, string | Buffer, Record<string, string>?][] = [
  ['as it is', drop],
  ['an escaped name', drop.replace('drop', '\\u0064rop')],
  ['an escaped method', drop.replace('tools/call', 'tools\\/c\\u0061ll')],
  ['an escaped member', drop.replace('"method"', '"m\\u0065thod"')],
  ['a notification', drop.replace('"id":1,', '')],
  ['an id of null', drop.replace('"id":1', '"id":null')],
  ['no version', drop.replace('"jsonrpc":"2.0",', '')],
  ['a method in capitals', drop.replace('"method"', '"METHOD"')],
  ['a second method', drop.replace('"method"', '"method":"ping","method"')],
  ['a second name', drop.replace('"name"', '"name":"read","name"')],
  ['a second name, escaped', drop.replace('"name"', '"name":"read","n\\u0061me"')],
  ['a second name in capitals', drop.replace('"name"', '"name":"read","Name"')],
  ['second parameters in capitals', drop.replace('"params"', '"params":{"name":"read"},"Params"')],
  ['a response that has a method, too', drop.replace('"id":1', '"id":1,"result":{}')],
  ['a response with a method in capitals', drop.replace('"method"', '"result":{},"METHOD"')],
  ['a byte order mark', `\ufeff${drop}`],
  ['a comma at the end', `${drop.slice(0, -1)},}`],
  ['two messages', `${drop}\n${drop}`],
  ['a batch', `[${drop}]`],
  ['nothing', ''],
  ['UTF-16', Buffer.from(drop, 'utf16le'), { 'content-type': 'application/json; charset=utf-16le' }],
  ['UTF-7', drop, { 'content-type': 'application/json; charset=utf-7' }],
  ['bytes that are not UTF-8', Buffer.concat([Buffer.from(drop.slice(0, -1)), Buffer.from([0xff, 0x7d])])],
  ['a compressed body', gzipSync(drop), { 'content-encoding': 'gzip' }],
  ['another type', drop, { 'content-type': 'text/plain' }],
  ['deep nesting', drop.replace('{}', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)],
  ['more than a webhook gets', drop.replace('{}', `{"a":"${'x'.repeat(1024 * 1024)}"}`)],
]

test('no spelling of a denied call reaches a server, by any HTTP method', async () => {
  const hook = await testWebhook((response, { said }) => {
    const { method, params } = said.mcp_request
    sendJson(response, { allowed: !(method === 'tools/call' && params?.name === 'drop') })
  })
  const { target, reached } = await keepingServer()
  for (const transport of ['streamable-http', 'sse'] as const) {
    const { origin } = await webhookProxy(
      { transport, validating_webhooks: [named('a', hook.url)] },
      { target },
    )
    for (const [what, body, headers] of BODIES) {
      const { status } = await sendTo(`${origin}/mcp`, body, headers)
      expect([what, [400, 403, 413].includes(status)]).toEqual([what, true])
    }
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const response = await fetch(`${origin}/mcp`, { method, body: drop })
      expect([method, response.status]).toEqual([method, 403])
    }
    expect(reached).toEqual([])
    // What the webhook allows passes, byte for byte.
    const odd =
      ' {"jsonrpc":"2.0", "id":12345678901234567890,"method":"tools/call","params":{"name":"\\u0072ead"}}'
    expect((await sendTo(`${origin}/mcp`, odd)).status).toBe(200)
    expect(reached.splice(0).map(({ body }) => body)).toEqual([odd])
    expect(hook.asked.at(-1)?.body).toContain(`"mcp_request":${odd}`)
  }
})

test('headers that name another tool than the body say what the body says', async () => {
  const hook = await testWebhook()
  const { target, reached } = await keepingServer()
  const { origin } = await webhookProxy({ validating_webhooks: [named('a', hook.url)] }, { target })
  await sendTo(`${origin}/mcp`, rpc('tools/call', 1, { name: 'read' }), {
    'mcp-method': 'resources/read',
    'mcp-name': 'drop',
  })
  expect(reached[0]?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'read' })
})

test('responses of clients and streams pass without a webhook', async () => {
  const hook = await testWebhook({ allowed: false })
  const { target, reached } = await keepingServer()
  const { origin } = await webhookProxy({ validating_webhooks: [named('a', hook.url)] }, { target })
  expect((await sendTo(`${origin}/mcp`, '{"jsonrpc":"2.0","id":7,"result":{}}')).status).toBe(200)
  expect((await fetch(`${origin}/mcp`)).status).toBe(200)
  expect([reached.length, hook.asked.length]).toEqual([2, 0])
})
