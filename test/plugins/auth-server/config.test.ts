import { describe, expect, test } from 'vitest'
import { authServerSection } from '../../../plugins/auth-server/section.ts'
import { checkSection } from '../../../src/sections.ts'

const upstreams = [{ type: 'oidc', oidc_config: { issuer_url: 'https://id.example', client_id: 'keelson' } }]

function check(config: object): void {
  const run = { schema_version: 'v0.1.0', name: 'w', transport: 'stdio' as const, port: 0 }
  checkSection(authServerSection, { ...run, embedded_auth_server_config: { upstreams, ...config } } as never)
}

test.each([
  {},
  { issuer: 'http://127.0.0.1:8080' },
  { issuer: 'https://login.example/team' },
  { issuer: 'http://login.example', insecure_allow_http: true },
  {
    token_lifespans: {
      access_token_lifespan: '1m',
      refresh_token_lifespan: '720h',
      auth_code_lifespan: '30s',
    },
  },
  { baseline_client_scopes: ['openid'] },
])('is accepted: %j', config => {
  expect(() => check(config)).not.toThrow()
})

describe('is refused, and the problem is named', () => {
  test.each([
    ['no upstream', { upstreams: [] }, 'no upstream provider'],
    ['two of one name', { upstreams: [...upstreams, ...upstreams] }, 'two upstream providers'],
    [
      'two that come back to one place',
      {
        upstreams: [
          ...upstreams,
          {
            name: 'second',
            type: 'oidc',
            oidc_config: {
              issuer_url: 'https://id.example',
              client_id: 'keelson',
              redirect_uri: 'https://notes.example/oauth/callback',
            },
          },
        ],
      },
      'does not end with /oauth/callback/second',
    ],
    [
      'an upstream over http',
      { upstreams: [{ type: 'oidc', oidc_config: { issuer_url: 'http://id.example', client_id: 'a' } }] },
      '--auth-server-upstream) must be an https URL',
    ],
    ['an upstream without its settings', { upstreams: [{ type: 'oauth2' }] }, 'oauth2_config'],
    ['an issuer over http', { issuer: 'http://login.example' }, 'must be an https URL'],
    ['an issuer with a query', { issuer: 'https://login.example/?a=b' }, 'a query'],
    ['pages over http', { authorization_endpoint_base_url: 'http://login.example' }, 'must be an https URL'],
    ['an audience that is no URI', { allowed_audiences: ['tools'] }, 'not an absolute URI'],
    ['a scope with a space', { scopes_supported: ['a b'] }, 'name of a scope'],
    [
      'a baseline scope that does not exist',
      { baseline_client_scopes: ['admin'] },
      'not in scopes_supported',
    ],
    ['access tokens of 59 s', { token_lifespans: { access_token_lifespan: '59s' } }, 'between 1 minute'],
    ['access tokens of 25 h', { token_lifespans: { access_token_lifespan: '25h' } }, 'and 24 hours'],
    ['refresh tokens of 59 m', { token_lifespans: { refresh_token_lifespan: '59m' } }, 'between 1 hour'],
    ['refresh tokens of 31 d', { token_lifespans: { refresh_token_lifespan: '744h' } }, 'and 30 days'],
    ['codes of 11 m', { token_lifespans: { auth_code_lifespan: '11m' } }, 'and 10 minutes'],
    ['a lifespan without a unit', { token_lifespans: { auth_code_lifespan: '60' } }, 'takes a duration'],
    ['a storage that does not exist', { storage: { type: 'floppy' } }, 'embedded_auth_server_config'],
    ['a member that does not exist', { hmac_secret_file: 'a' }, 'embedded_auth_server_config'],
    [
      'assertions for clients without secrets',
      { trusted_issuers: [{ issuer: 'a', jwks_file: 'b' }] },
      'secret',
    ],
    [
      'a trusted issuer without keys',
      { allow_confidential_clients: true, trusted_issuers: [{ issuer: 'a' }] },
      'jwks_url or jwks_file',
    ],
    ['a cache without bounds', { cimd: { cache_max_size: 1_000_000 } }, 'cache_max_size'],
  ])('%s', (_, config, problem) => {
    expect(() => check(config)).toThrow(problem)
  })
})
