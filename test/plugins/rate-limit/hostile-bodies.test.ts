import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { call, callAs, countingServer, limitedProxy } from './limit-world.ts'

const rate_limit_config = { tools: [{ name: 'drop', shared: { maxTokens: 1, refillPeriod: '1h' } }] }
const drop = call('drop')

/** Bodies that some server could take for a call of the tool. None may reach it once the bucket is empty. */
const BODIES: [string, string | Buffer, Record<string, string>?][] = [
  ['an escaped name', drop.replace('drop', '\\u0064rop')],
  ['an escaped method', drop.replace('tools/call', 'tools\\/c\\u0061ll')],
  ['an escaped member', drop.replace('"method"', '"m\\u0065thod"')],
  ['a notification', drop.replace('"id":1,', '')],
  ['an id of null', drop.replace('"id":1', '"id":null')],
  ['no version', drop.replace('"jsonrpc":"2.0",', '')],
  ['another version', drop.replace('"2.0"', '"1.0"')],
  ['a method in capitals', drop.replace('"method"', '"METHOD"')],
  ['a second method in capitals', drop.replace('"method"', '"method":"ping","Method"')],
  ['a second method', drop.replace('"method"', '"method":"ping","method"')],
  ['a second name', drop.replace('"name"', '"name":"read","name"')],
  ['a second name in capitals', drop.replace('"name"', '"name":"read","Name"')],
  ['second parameters in capitals', drop.replace('"params"', '"params":{"name":"read"},"Params"')],
  ['a byte order mark', `\ufeff${drop}`],
  ['a comment', `/**/${drop}`],
  ['a comma at the end', `${drop.slice(0, -1)},}`],
  ['two messages', `${drop}\n${drop}`],
  ['white space', ` \r\n\t${drop}\n`],
  ['a batch', `[${drop}]`],
  ['a batch with a second method in capitals', `[${drop.replace('"method"', '"method":"ping","Method"')}]`],
  ['a batch in a batch', `[[${drop}]]`],
  ['UTF-16', Buffer.from(drop, 'utf16le')],
  ['bytes that are not UTF-8', Buffer.concat([Buffer.from(drop.slice(0, -1)), Buffer.from([0xff, 0x7d])])],
  ['a compressed body', gzipSync(drop), { 'content-encoding': 'gzip' }],
  ['a form', `message=${encodeURIComponent(drop)}`, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['another type', drop, { 'content-type': 'text/plain' }],
  ['deep nesting', drop.replace('"arguments":{}', `"arguments":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)],
  ['a huge number', drop.replace('"id":1', `"id":1${'0'.repeat(400)}`)],
]

test('no spelling of a call gets past an empty bucket', async () => {
  for (const transport of ['streamable-http', 'sse'] as const) {
    const { target, calls } = await countingServer()
    const { origin } = await limitedProxy({ transport, rate_limit_config }, { target })
    expect((await callAs(`${origin}/mcp`, '', 'drop')).status).toBe(200)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      // Few servers take a call with another method, and they read it as they read others.
      for (const [what, body, headers = {}] of method === 'POST' ? BODIES : BODIES.slice(0, 1)) {
        const response = await fetch(`${origin}/mcp`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          body,
        })
        await response.arrayBuffer()
        expect([what, method, [400, 429].includes(response.status)]).toEqual([what, method, true])
      }
    }
    expect(calls).toHaveLength(1)
  }
})

test('a body with more escaped names than are read is refused, alone and in a batch', async () => {
  const names = Array.from({ length: 10_001 }, (_, i) => `"\\u0061${i}":1`).join()
  const body = drop.replace('"arguments":{}', `"arguments":{${names}}`)
  for (const sent of [body, `[${body}]`]) {
    const { target, calls } = await countingServer()
    const { origin } = await limitedProxy({ transport: 'sse', rate_limit_config }, { target })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${origin}/mcp`, { method: 'POST', headers, body: sent })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('too many member names') },
    })
    expect(calls).toHaveLength(0)
  }
})

test('names that mean something else to JavaScript are names of tools like others', async () => {
  const { target, calls } = await countingServer()
  const { origin } = await limitedProxy({ rate_limit_config }, { target })
  for (const tool of [
    '__proto__',
    'constructor',
    'toString',
    'x'.repeat(100_000),
    '\u0000',
    'drop ',
    'Drop',
  ]) {
    expect((await callAs(`${origin}/mcp`, '', tool)).status).toBe(200)
  }
  expect(calls).toHaveLength(7)
})
