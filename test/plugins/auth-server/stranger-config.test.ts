import { expect, test } from 'vitest'
import { authServerPreparation } from '../../../plugins/auth-server/preparation.ts'
import { type AuthServerConfig, authServerSection } from '../../../plugins/auth-server/section.ts'
import { createProviderFetch } from '../../../plugins/auth-server/upstream/provider-fetch.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'

const evil = 'https://evil.example/token'
const oauth2 = { authorization_endpoint: 'https://evil.example', token_endpoint: evil }
const upstream = (oauth2_config: object): AuthServerConfig => ({
  upstreams: [{ type: 'oauth2', oauth2_config: { ...oauth2, ...oauth2_config } }],
})
const redis = (user: object): AuthServerConfig => ({
  upstreams: [],
  storage: { type: 'redis', redis_config: { addr: 'evil.example:6379', acl_user_config: user } },
})

const SENT: [string, AuthServerConfig][] = [
  ['/home/ada/.ssh/id_ed25519', upstream({ client_secret_file: '/home/ada/.ssh/id_ed25519' })],
  ['AWS_SECRET_ACCESS_KEY', upstream({ client_secret_env_var: 'AWS_SECRET_ACCESS_KEY' })],
  ['/etc/a', upstream({ dcr_config: { registration_endpoint: evil, initial_access_token_file: '/etc/a' } })],
  [
    'A_TOKEN',
    upstream({ dcr_config: { registration_endpoint: evil, initial_access_token_env_var: 'A_TOKEN' } }),
  ],
  [
    '/etc/b',
    {
      upstreams: [
        { type: 'oidc', oidc_config: { issuer_url: 'https://evil.example', client_secret_file: '/etc/b' } },
      ],
    },
  ],
  ['GITHUB_TOKEN', redis({ password_env_var: 'GITHUB_TOKEN' })],
  ['HOME', redis({ username_env_var: 'HOME' })],
]

const configOf = (section: AuthServerConfig) =>
  ({ name: 'a', transport: 'stdio', port: 0, embedded_auth_server_config: section }) as never

test.each(SENT)('the content of %s goes nowhere because a file says so', async (source, section) => {
  const complete = (more: object) =>
    authServerPreparation().complete?.(configOf(section), {
      options: { 'from-config': 'a.json', 'auth-server-allow-private-ip': true, ...more },
    } as never)
  const unconfirmed = { code: 'auth_server_credential_unconfirmed' }
  await expect(complete({})).rejects.toMatchObject(unconfirmed)
  await expect(complete({ 'auth-server-credential': ['OTHER'] })).rejects.toMatchObject(unconfirmed)
  await expect(complete({ 'auth-server-credential': [source] })).resolves.toEqual(configOf(section))
})

test.each(SENT)('the content of %s goes nowhere because a request says so', (_, section) => {
  const asked = { embedded_auth_server_config: section }
  const toMembers = (kept: object) => authServerSection.request?.toMembers?.(asked as never, kept)
  expect(() => toMembers({})).toThrow(/evil\.example/)
  expect(toMembers(asked)).toEqual(asked)
})

const far = 'https://evil.example/mcp'
const provider = 'https://login.example'
const oidc = { type: 'oidc' as const, oidc_config: { issuer_url: provider, client_id: 'known-to-all' } }

test.each([
  ['a remote server', { remote_url: far, upstream_swap_config: { header_strategy: 'replace' } }, far],
  ['a server that asks for them', { upstream_swap_config: { provider_name: 'default' } }, '"a"'],
])('%s gets no tokens of a provider because a file says so', async (_, more, server) => {
  const config = { ...(configOf({ upstreams: [oidc] }) as object), ...more } as never
  const complete = (credentials: string[]) =>
    authServerPreparation().complete?.(config, {
      options: { 'from-config': 'a.json', 'auth-server-credential': credentials },
    } as never)
  await expect(complete([])).rejects.toThrow(
    `${server} would get the tokens of those who log in at ${provider}`,
  )
  await expect(complete([provider])).resolves.toEqual(config)
})

test.each([
  ['turns that off', { disable_upstream_token_injection: true }],
  ['does not ask for them', {}],
])('a file need not be confirmed whose server gets no tokens, since it %s', async (_, more) => {
  const section = { upstreams: [oidc], ...more }
  const config = { ...(configOf(section) as object), remote_url: far } as never
  const options = { 'from-config': 'a.json' }
  await expect(authServerPreparation().complete?.(config, { options } as never)).resolves.toEqual(config)
})

const open = { client_id: 'known-to-all' }
const at = (config: object): AuthServerConfig => ({
  upstreams: [{ type: 'oidc', oidc_config: { issuer_url: provider, ...open, ...config } }],
  disable_upstream_token_injection: true,
})
const plain = { authorization_endpoint: provider, token_endpoint: provider, ...open }

test.each<[string, AuthServerConfig]>([
  ['a provider on this machine', at({ issuer_url: 'http://127.0.0.1:9200' })],
  ['one by name', at({ issuer_url: 'http://localhost:9200' })],
  ['one as a number', at({ issuer_url: 'http://2130706433:9200' })],
  ['one in hexadecimal', at({ issuer_url: 'https://0x7f.1/' })],
  ['one in IPv6', at({ issuer_url: 'http://[::1]:9200' })],
  ['private networks', at({ allow_private_ips: true })],
  ['user information here', at({ userinfo_override: { endpoint_url: 'http://127.0.0.1:9200/user' } })],
  ['a token endpoint here', upstream({ ...plain, token_endpoint: 'http://127.0.0.1:9200' })],
  [
    'user information of OAuth 2 here',
    upstream({ ...plain, userinfo: { endpoint_url: 'http://localhost' } }),
  ],
  ['registration here', upstream({ ...plain, dcr_config: { registration_endpoint: 'http://127.0.0.1:1' } })],
  ['metadata here', upstream({ ...plain, dcr_config: { discovery_url: 'http://127.0.0.1:1' } })],
  ['private networks for OAuth 2', upstream({ ...plain, allow_private_ips: true })],
  ['a Redis', { ...at({}), storage: { type: 'redis', redis_config: { addr: '127.0.0.1:6379' } } }],
])('nothing is connected to because a file names %s', async (_, section) => {
  const complete = (more: object) =>
    authServerPreparation().complete?.(configOf(section), {
      options: { 'from-config': 'a.json', ...more },
    } as never)
  await expect(complete({})).rejects.toMatchObject({ code: 'auth_server_private_unconfirmed' })
  await expect(complete({ 'auth-server-allow-private-ip': true })).resolves.toEqual(configOf(section))
})

test.each([
  'https://10.0.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://0.0.0.0/',
  'http://login.example/',
])('a file that names %s is accepted, and nothing is connected to', async issuer => {
  const section = at({ issuer_url: issuer })
  await expect(
    authServerPreparation().complete?.(configOf(section), { options: { 'from-config': 'a.json' } } as never),
  ).resolves.toBeDefined()
  const fetch = createProviderFetch({ mayBePrivate: false, ca: undefined })
  const problem = await fetch(issuer, {}).catch(error => error)
  expect(problem).toBeInstanceOf(FetchProblem)
  expect(['private', 'scheme']).toContain(problem.kind)
})
