import { expect, test } from 'vitest'
import { readOidcConfig } from '../../../plugins/auth-in/oidc-config.ts'
import { authInSection } from '../../../plugins/auth-in/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'

const login = { issuer: 'https://login.test', audience: 'tools' }
const check = (members: object) =>
  checkSection(authInSection, {
    ...{ schema_version: 'v0.1.0', name: 'a', image: 'a', transport: 'stdio', port: 0 },
    ...members,
  } as RunConfig)

test('members are read in any case, as ToolHive writes them', () => {
  expect(
    readOidcConfig({
      ...{ Issuer: ' https://login.test', Audience: 'tools', JWKSURL: 'https://login.test/keys' },
      ...{ ClientID: 'proxy', CACertPath: '/ca.pem', AllowPrivateIP: true, Scopes: ['read'] },
      ...{ ClientSecret: '', IntrospectionURL: '', InsecureAllowHTTP: false, AuthTokenFile: null },
    }),
  ).toEqual({
    ...{ issuer: 'https://login.test', audience: 'tools', jwksurl: 'https://login.test/keys' },
    ...{ clientID: 'proxy', cacertPath: '/ca.pem', allowPrivateIP: true, scopes: ['read'] },
  })
})

test.each([undefined, null, {}, { Issuer: '', Scopes: null, AllowPrivateIP: false }])(
  '%j asks for no login',
  value => {
    expect(readOidcConfig(value)).toBeUndefined()
  },
)

test.each<[string, object, string]>([
  ['a member that is not known', { oidc_config: { ...login, requiredClaims: ['x'] } }, 'requiredClaims'],
  ['a member that stands twice', { oidc_config: { ...login, Issuer: 'https://evil.test' } }, 'issuer twice'],
  ['a member of another type', { oidc_config: { ...login, Scopes: 'read' } }, 'not valid'],
  ['a login without an audience', { oidc_config: { issuer: login.issuer } }, 'without an audience'],
  ['a login without an issuer', { oidc_config: { ResourceURL: 'https://a.test' } }, 'no issuer'],
  ['an issuer over plain http', { oidc_config: { ...login, issuer: 'http://login.test' } }, 'https'],
  ['a rule of another form', { oidc_config: { ...login, allow: ['ada'] } }, 'claim=value'],
  [
    'an issuer for everybody',
    { oidc_config: { ...login, issuer: 'https://accounts.google.com' } },
    'anybody',
  ],
  ['a list in the place of the section', { oidc_config: [login] }, 'oidc_config'],
  ['a token for no issuer', { jwks_auth_token_file: '/token' }, 'no issuer'],
  [
    'two files with a token',
    { oidc_config: { ...login, authTokenFile: '/a' }, jwks_auth_token_file: '/b' },
    'different files',
  ],
  [
    'GitHub without a client',
    {
      oidc_config: {
        ...{ introspectionURL: 'https://api.github.com/applications/a/token', allow: ['sub=7'] },
        audience: 'https://github.com',
      },
    },
    'GitHub',
  ],
])('%s is refused', (_, members, problem) => {
  expect(() => check(members)).toThrow(problem)
})
