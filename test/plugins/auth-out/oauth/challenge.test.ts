import { expect, test } from 'vitest'
import { readChallenge, schemesOf, toScopes } from '../../../../plugins/auth-out/oauth/challenge.ts'

test('the Bearer challenge is found among several, with commas and escapes in quoted strings', () => {
  const header =
    'Negotiate dG9rZW4=, Basic realm="a, b", Bearer realm="say \\"hi\\", please", scope="files:read files:write", resource_metadata="https://a.example/x?y=1,2"'

  expect(readChallenge(401, header)).toMatchObject({
    status: 401,
    realm: 'say "hi", please',
    scopes: ['files:read', 'files:write'],
    resourceMetadata: 'https://a.example/x?y=1,2',
  })
})

test('of several Bearer challenges the one that names the metadata counts', () => {
  const found = readChallenge(401, 'Bearer realm="old", Bearer resource_metadata="https://a.example/m"')

  expect(found?.resourceMetadata).toBe('https://a.example/m')
})

test.each([
  ['a 401 without a header', 401, undefined, { status: 401 }],
  ['the older name of the scheme', 401, 'OAuth realm="x"', { realm: 'x' }],
  [
    'a 403 for missing scopes',
    403,
    'Bearer error="insufficient_scope", scope="write"',
    { status: 403, error: 'insufficient_scope', scopes: ['write'] },
  ],
] as const)('%s demands a login', (_, status, header, expected) => {
  expect(readChallenge(status, header)).toMatchObject(expected)
})

test.each([
  ['a 403 without a challenge', 403, undefined],
  ['a 401 with Basic only', 401, 'Basic realm="x"'],
  ['a 401 with a header that cannot be read', 401, '"???'],
  ['a 200 with a challenge', 200, 'Bearer realm="x"'],
] as const)('%s demands no login', (_, status, header) => {
  expect(readChallenge(status, header)).toBeUndefined()
})

test('a parameter without end is left out', () => {
  const found = readChallenge(401, `Bearer realm="${'x'.repeat(5000)}", error="invalid_token"`)

  expect(found).toMatchObject({ error: 'invalid_token', realm: undefined })
})

test('what is no scope token is left out of a scope list, and a scope counts once', () => {
  expect(toScopes('read  read "quoted" wri\u0007te admin')).toEqual(['read', 'admin'])
})

test('schemes are named once, in lower case', () => {
  expect(schemesOf('Digest realm="a", Basic realm="b", Digest realm="c"')).toEqual(['digest', 'basic'])
})
