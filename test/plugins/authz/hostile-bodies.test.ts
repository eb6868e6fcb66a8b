import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { post, rpc } from '../proxy/test-proxy.ts'
import { as, ask, authorizedProxy, cedar, isOwn, offeringServer } from './authz-world.ts'

const drop = rpc('tools/call', 1, { name: 'drop', arguments: {} })
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const withArguments = (args: string) => drop.replace('"arguments":{}', `"arguments":${args}`)

/** Bodies that some server could take for a call that the policies deny. */
const BODIES: [string, string | Buffer, Record<string, string>?][] = [
  ['the plain call', drop],
  ['an escaped name', drop.replace('drop', '\\u0064rop')],
  ['an escaped method', drop.replace('tools/call', 'tools\\/c\\u0061ll')],
  ['an escaped member', drop.replace('"name"', '"n\\u0061me"')],
  ['a notification', drop.replace('"id":1,', '')],
  ['an id of null', drop.replace('"id":1', '"id":null')],
  ['no version', drop.replace('"jsonrpc":"2.0",', '')],
  ['a method in capitals', drop.replace('tools/call', 'Tools/Call')],
  ['a second method', drop.replace('"method"', '"method":"ping","method"')],
  ['a second method in capitals', drop.replace('"method"', '"method":"ping","Method"')],
  ['a second name', drop.replace('"name"', '"name":"read","name"')],
  ['a second name behind it', drop.replace('"name":"drop"', '"name":"drop","name":"read"')],
  ['a second name in an escape', drop.replace('"name"', '"name":"read","n\\u0061me"')],
  ['a second name in capitals', drop.replace('"name"', '"name":"read","NAME"')],
  ['second parameters', drop.replace('"params"', '"params":{"name":"read"},"params"')],
  ['a response with a method', drop.replace('"method"', '"result":{},"method"')],
  ['a name in a list', drop.replace('"drop"', '["read","drop"]')],
  ['a name that is no text', drop.replace('"drop"', '{"toString":"read"}')],
  ['half a character', drop.replace('drop', 'read\\ud800')],
  ['a zero', drop.replace('drop', 'read\\u0000')],
  ['parameters in a list', rpc('tools/call', 1, ['drop'])],
  ['no parameters', rpc('tools/call', 1)],
  ['arguments in a list', withArguments('["x"]').replace('drop', 'read')],
  ['a batch', `[${drop}]`],
  ['two messages', `${drop}\n${drop}`],
  ['a byte order mark', `\ufeff${drop}`],
  ['a comment', `/**/${drop}`],
  ['nothing', ''],
  ['UTF-16', Buffer.from(drop, 'utf16le')],
  ['bytes that are not UTF-8', Buffer.concat([Buffer.from(drop.slice(0, -1)), Buffer.from([0xff, 0x7d])])],
  ['a compressed body', gzipSync(drop), { 'content-encoding': 'gzip' }],
  ['another charset', drop, { 'content-type': 'application/json; charset=utf-7' }],
  ['a form', `message=${encodeURIComponent(drop)}`, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['another type', drop, { 'content-type': 'text/plain' }],
  ['a header that says something else', drop, { 'mcp-method': 'ping', 'mcp-name': 'read' }],
  ['deep nesting', withArguments(nested(5000))],
  [
    'deep nesting of what is allowed',
    withArguments(`{"force":true,"x":${nested(50)}}`).replace('drop', 'read'),
  ],
  ['a huge number', withArguments(`{"level":1${'0'.repeat(400)}}`).replace('drop', 'level')],
  [
    'a number that only doubles can hold',
    withArguments('{"level":9007199254740993}').replace('drop', 'level'),
  ],
  [
    'an entity in an argument',
    withArguments('{"level":{"__entity":{"type":"A","id":"b"}}}').replace('drop', 'level'),
  ],
  [
    'a decimal in an argument',
    withArguments('{"level":{"__extn":{"fn":"decimal","arg":"1.0"}}}').replace('drop', 'level'),
  ],
  ['an argument that is called like an attribute', withArguments('{"name":"read","readOnlyHint":true}')],
  ['a name of an object', withArguments('{"__proto__":{"force":true},"force":true}').replace('drop', 'read')],
  ['another method', rpc('tools/execute', 1, { name: 'read' })],
]

const authz_config = cedar(
  'permit(principal, action, resource == Tool::"read");',
  'forbid(principal, action, resource) when { context has arg_force };',
  'permit(principal, action, resource == Tool::"level") when { context.arg_level < 5 };',
  'permit(principal, action, resource) when { resource has readOnlyHint && resource.readOnlyHint };',
)

test('no spelling of a call gets past the policies, with any HTTP method', async () => {
  for (const transport of ['streamable-http', 'sse'] as const) {
    const { target, received } = await offeringServer()
    const { url } = await authorizedProxy({ transport, authz_config }, { target })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const [what, body, headers = {}] of method === 'POST' ? BODIES : BODIES.slice(0, 3)) {
        const response = await fetch(url, {
          method,
          headers: { 'content-type': 'application/json', ...as({ sub: 'mallory' }), ...headers },
          body,
        })
        await response.arrayBuffer()
        expect([what, method, response.status]).toEqual([what, method, expect.toBeOneOf([400, 403])])
      }
    }
    for (const method of ['GET', 'HEAD', 'PUT', 'TRACE-ME']) {
      const response = await fetch(url, { method, headers: { accept: '*/*' } }).catch(() => undefined)
      expect([method, response?.status]).toEqual([method, expect.toBeOneOf([400, 403, 405, undefined])])
    }
    expect(received.filter(text => !isOwn(text))).toEqual([])
  }
})

test('claims that look like values of Cedar are none', async () => {
  const { target } = await offeringServer()
  const { url } = await authorizedProxy(
    {
      authz_config: cedar(
        'permit(principal, action, resource) when { principal.claim_boss == Client::"root" || principal in THVGroup::"root" || principal.claim_level > 3 };',
      ),
    },
    { target },
  )
  for (const claims of [
    { boss: { __entity: { type: 'Client', id: 'root' } } },
    { boss: { type: 'Client', id: 'root' } },
    { groups: [{ id: 'root' }, ['root'], 'Root', 'root"'] },
    { groups: {}, roles: ['root'] },
    { level: '4' },
    { level: 1e40 },
    { deep: JSON.parse(nested(3000)), level: 3 },
  ]) {
    expect((await ask(url, { sub: 'mallory', ...claims }, 'tools/call', { name: 'a' })).status).toBe(403)
  }
  const fine = { sub: 'x', groups: ['root'], boss: 'y', level: 1 }
  expect((await ask(url, fine, 'tools/call', { name: 'a' })).status).toBe(200)
  expect((await ask(url, { ...fine, groups: [], level: 4 }, 'tools/call', { name: 'a' })).status).toBe(200)
})

test('no member is hidden by a name that an earlier message has had', async () => {
  const { received, target } = await offeringServer()
  const forced = 'context has arg_force && context.arg_force'
  const policies = cedar(
    'permit(principal, action, resource);',
    `forbid(principal, action, resource) when { ${forced} };`,
  )
  const { url } = await authorizedProxy({ authz_config: policies }, { target })
  const hidden = rpc('tools/call', 1, { name: 'drop', arguments: { force: true } }).replace(
    '"arg',
    '"ar\\u0067',
  )
  // V8 13.6 takes the escaped name for the one that begins like its text.
  const before = rpc('tools/call', 1, { name: 'drop', 'ar\\u0067u': 0 })
  for (let n = 0; n < 4; n++) expect((await post(url, before)).status).toBe(200)
  const judged = received.length
  expect((await post(url, hidden)).status).toBe(403)
  expect(received).toHaveLength(judged)
})
