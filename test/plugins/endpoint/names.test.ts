import { expect, test } from 'vitest'
import { namesOf, prefixedName } from '../../../plugins/endpoint/names/naming.ts'
import { PUBLIC_RESULTS } from '../../../plugins/endpoint/names/public-results.ts'
import { fromPublicUri, toPublicUri } from '../../../plugins/endpoint/names/resource-uri.ts'
import { toRaw } from '../../../src/lib/raw-json.ts'

test('a name is the server and the tool', () => {
  expect(prefixedName('github', 'create_issue')).toBe('github_create_issue')
  expect(prefixedName('git-hub', 'get-me')).toBe('git-hub_get-me')
})

test('what a client may refuse is replaced, and a hash keeps it apart', () => {
  const dotted = prefixedName('a', 'b.c')
  expect(dotted).toMatch(/^a_b_c_[0-9a-f]{8}$/)
  expect(prefixedName('a', 'b/c')).not.toBe(dotted)
  const long = prefixedName('server', 'x'.repeat(100))
  expect(long).toHaveLength(64)
  expect(prefixedName('server', `${'x'.repeat(99)}y`)).not.toBe(long)
})

test('no server can take the name of a tool of another one', () => {
  expect(prefixedName('a', 'b_c')).not.toBe(prefixedName('a_b', 'c'))
  const stolen = prefixedName('a_b', 'c').slice(2)
  const names = namesOf(
    [
      { server: 'a', name: stolen },
      { server: 'a_b', name: 'c' },
    ],
    'prefix',
  )
  // Only a server that knows the name of the other can clash with it, and then one of the two is left out.
  expect([...names.values()]).toEqual([{ server: 'a', name: stolen }])
})

test('only names that clash get a prefix, or the first one counts', () => {
  const offers = [
    { server: 'a', name: 'search' },
    { server: 'b', name: 'search' },
    { server: 'b', name: 'fetch' },
  ]
  expect([...namesOf(offers, 'on-clash').keys()]).toEqual(['a_search', 'b_search', 'fetch'])
  const plain = namesOf(offers, 'plain')
  expect([...plain.keys()]).toEqual(['search', 'fetch'])
  expect(plain.get('search')?.server).toBe('a')
})

test.each([
  ['memory', 'memory://graph', 'mcp+memory+memory://graph'],
  ['every', 'demo://resource/{id}', 'mcp+every+demo://resource/{id}'],
  ['My_Server.1', 'file:///a+b', 'mcp+.4dy.5f.53erver.2e1+file:///a+b'],
  ['apps', 'ui://weather/page.html', 'ui://apps/weather/page.html'],
])('a URI of %s can be turned back: %s', (server, uri, known) => {
  expect(toPublicUri({ server, uri })).toBe(known)
  expect(fromPublicUri(known)).toEqual({ server, uri })
})

test('a URI that no endpoint has made belongs to no server', () => {
  for (const uri of ['', 'file:///etc/passwd', 'mcp+', 'ui://x', 'memory://graph']) {
    expect(fromPublicUri(uri)).toBeUndefined()
  }
})

test('the results of a tool keep every byte but the URIs of resources', () => {
  const result = toRaw(
    '{ "content":[{"type":"text","text":"memory://a ü","n":12345678901234567890},' +
      '{"type":"resource_link","uri":"memory://a","title":"A"},' +
      '{"type":"resource","resource":{"uri":"memory://b","text":"x"}}, {"type":"odd","uri":"memory://c"}],' +
      '"structuredContent":{"uri":"memory://d","x":1.0},"isError":false }',
  )
  expect(PUBLIC_RESULTS['tools/call']?.(result, 'm')).toBe(
    toRaw(
      '{ "content":[{"type":"text","text":"memory://a ü","n":12345678901234567890},' +
        '{"type":"resource_link","uri":"mcp+m+memory://a","title":"A"},' +
        '{"type":"resource","resource":{"uri":"mcp+m+memory://b","text":"x"}},{"type":"odd","uri":"memory://c"}],' +
        '"structuredContent":{"uri":"memory://d","x":1.0},"isError":false }',
    ),
  )
})
