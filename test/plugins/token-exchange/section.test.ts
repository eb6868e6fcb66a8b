import { describe, expect, test } from 'vitest'
import { tokenExchangeSection } from '../../../plugins/token-exchange/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'

const URL = 'https://login.example/token'

const check = (exchange: object, more: object = {}) =>
  checkSection(tokenExchangeSection, {
    schema_version: 'v0.1.0',
    name: 'far',
    port: 0,
    transport: 'streamable-http',
    remote_url: 'https://far.example/mcp',
    token_exchange_config: exchange,
    ...more,
  } as RunConfig)

test.each([
  ['nothing is said', {}],
  [
    'what ToolHive writes where nothing is',
    { token_url: '', client_id: '', scopes: null, header_strategy: '' },
  ],
])('where %s, nothing is exchanged', (_, exchange) => {
  expect(() => check(exchange, { transport: 'stdio' })).not.toThrow()
})

test.each([
  ['the name of a type', { subject_token_type: 'id_token' }],
  ['its URN', { subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' }],
  ['plain http on this machine', { token_url: 'http://127.0.0.1:1/token' }],
  ['a header', { header_strategy: 'custom', external_token_header_name: 'X-Token' }],
])('%s is taken', (_, more) => {
  expect(() => check({ token_url: URL, ...more })).not.toThrow()
})

describe('is refused:', () => {
  test.each<[string, object, string]>([
    ['no endpoint', { token_url: '', audience: 'a' }, 'needs token_url'],
    ['plain http elsewhere', { token_url: 'http://login.example/token' }, 'is an https URL'],
    ['a user in the endpoint', { token_url: 'https://a:b@login.example/token' }, 'is an https URL'],
    ['a secret without a client', { client_secret: 'a' }, 'needs a client ID'],
    ['two secrets', { client_id: 'a', client_secret: 'a', client_secret_file: '/a' }, 'do not go together'],
    ['an unknown type', { subject_token_type: 'saml2' }, 'not a type of tokens'],
    ['a strategy that is none', { header_strategy: 'both' }, 'is not valid'],
    ['a header without a name', { header_strategy: 'custom' }, 'needs external_token_header_name'],
    ['a name without its strategy', { external_token_header_name: 'X-A' }, 'needs header_strategy custom'],
    ...['Host', 'Mcp-Session-Id', 'Content-Type', 'Transfer-Encoding', 'X A', 'X\r\nB'].map(
      name =>
        [
          `the header ${JSON.stringify(name)}`,
          { header_strategy: 'custom', external_token_header_name: name },
          'cannot be added to requests',
        ] satisfies [string, object, string],
    ),
    ['two actors', { client_id: 'a', actor_is_client: true, actor_token_file: '/a' }, 'do not go together'],
    ['an actor without a client', { actor_is_client: true }, 'needs a client_id'],
    ['an ID-JAG without an issuer', { identity_assertion: { client_id: 'a' } }, 'needs audience'],
    ['an unknown member', { on_behalf_of: 'a' }, 'token_exchange_config.on_behalf_of'],
    ['an unknown inner member', { identity_assertion: { flow: 'a' } }, 'identity_assertion.flow'],
  ])('%s', (_, more, problem) => {
    expect(() => check({ token_url: URL, ...more })).toThrow(problem)
  })

  test('a stdio server, which gets no headers', () => {
    const local = { remote_url: undefined, image: 'a', transport: 'stdio' }
    expect(() => check({ token_url: URL }, local)).toThrow('a stdio server gets no headers')
  })

  test('a forwarded header that is the same', () => {
    const header_forward = { add_plaintext_headers: { authorization: 'a' } }
    expect(() => check({ token_url: URL }, { header_forward })).toThrow('are the same header')
  })
})
