import { describe, expect, test } from 'vitest'
import { auditSection } from '../../plugins/audit/section.ts'
import { authInSection } from '../../plugins/auth-in/section.ts'
import { authServerSection } from '../../plugins/auth-server/section.ts'
import { upstreamSwapSection } from '../../plugins/auth-server/swap/section.ts'
import { awsStsSection } from '../../plugins/aws-sts/section.ts'
import { rateLimitSection } from '../../plugins/rate-limit/section.ts'
import { tokenExchangeSection } from '../../plugins/token-exchange/section.ts'
import type { App } from '../../src/app.ts'
import { assertEnforced } from '../../src/contracts/unenforced.ts'
import { takeOverEntries } from '../../src/middleware-entries.ts'

const sections = [
  ...[authInSection, authServerSection, upstreamSwapSection, tokenExchangeSection, awsStsSection],
  ...[auditSection, rateLimitSection],
]
const app = { contributions: async () => sections } as unknown as App
const take = (document: object) => takeOverEntries(app, document)

const remote_url = 'https://far.example/mcp'
const oidc = { issuer: 'https://login.example', audience: 'tools' }
const exchange = { token_url: 'https://login.example/token', header_strategy: 'replace' }
const aws = { region: 'eu-west-1', fallback_role_arn: 'arn:aws:iam::123456789012:role/a' }
const server = { upstreams: [] }
const audit = { component: 'far', includeRequestData: true, maxDataSize: 1024 }
const limits = { perUser: { maxTokens: 5, refillPeriod: '1m0s' } }
const swap = { provider_name: 'a', header_strategy: 'replace' }

/** Entries as ToolHive writes them, and the members that they come from. */
const ENTRIES: [string, object, object][] = [
  [
    'auth',
    { oidc_config: { Issuer: oidc.issuer, Audience: oidc.audience, Scopes: null } },
    { oidc_config: oidc },
  ],
  ['tokenexchange', { token_exchange_config: exchange }, { token_exchange_config: exchange }],
  ['awssts', { aws_sts_config: aws, target_url: remote_url }, { aws_sts_config: aws }],
  ['audit', { config_data: audit, component: 'far' }, { audit_config: audit }],
  ['ratelimit', { config: limits, redis_db: 0 }, { rate_limit_config: limits }],
  ['upstreamswap', { config: swap }, { upstream_swap_config: swap }],
]

describe.each(ENTRIES)('an entry %s of middleware_configs', (type, parameters, member) => {
  const entries = [
    { type: 'mcp-parser', parameters: {} },
    { type, parameters },
  ]
  const rest = { middleware_configs: [entries[0]], remote_url }

  test('that says what its member says is dropped', async () => {
    const taken = await take({ remote_url, ...member, middleware_configs: entries })
    expect(taken).toEqual({ ...rest, ...member })
  })

  test('fills the member where only the entry has it', async () => {
    const [[name, said] = ['', {}]] = Object.entries(parameters)
    const taken = (await take({
      remote_url,
      [Object.keys(member)[0] ?? '']: null,
      middleware_configs: entries,
    })) as object
    expect(taken).toEqual({ ...rest, [Object.keys(member)[0] ?? '']: said })
    expect(name).not.toBe('')
  })

  test('that says something else is refused', async () => {
    const [[name, said] = ['', {}]] = Object.entries(member)
    const other = { ...said, [name === 'oidc_config' ? 'audience' : 'other']: 'others' }
    await expect(take({ remote_url, [name]: other, middleware_configs: entries })).rejects.toThrow(
      `"${type}" of middleware_configs contradicts the run config (${name})`,
    )
  })

  test('with another parameter is refused', async () => {
    const strange = [
      { type, parameters: { ...parameters, target_url: 'https://evil.example', strange: true } },
    ]
    await expect(take({ remote_url, ...member, middleware_configs: strange })).rejects.toThrow(type)
  })
})

test('what ToolHive leaves out of the entry of a login is no difference', async () => {
  const more = { ...oidc, cacertPath: '/ca.pem', insecureAllowHTTP: true }
  const entries = [{ type: 'auth', parameters: { oidc_config: oidc } }]
  expect(await take({ oidc_config: more, middleware_configs: entries })).toEqual({ oidc_config: more })
  const open = [{ type: 'auth', parameters: { oidc_config: more } }]
  await expect(take({ oidc_config: oidc, middleware_configs: open })).rejects.toThrow('oidc_config')
})

test('an entry without a login takes none away', async () => {
  const entries = [{ type: 'auth', parameters: { oidc_config: null } }]
  expect(await take({ oidc_config: oidc, middleware_configs: entries })).toEqual({ oidc_config: oidc })
})

test('an entry for an audit log asks for one, whatever it says of it', async () => {
  const entries = [
    {
      type: 'audit',
      parameters: { config_path: '', config_data: null, component: 'far', transport_type: 'sse' },
    },
  ]
  const far = { name: 'far', transport: 'sse' }
  expect(await take({ ...far, middleware_configs: entries })).toEqual({
    ...far,
    audit_config: { enabled: true },
  })
  const off = { ...far, audit_config: { enabled: false, logFile: '/a' } }
  await expect(take({ ...off, middleware_configs: entries })).rejects.toThrow('"audit"')
  const elsewhere = [{ type: 'audit', parameters: { config_path: '/etc/audit.json' } }]
  await expect(take({ ...far, middleware_configs: elsewhere })).rejects.toThrow('audit_config_path')
  const another = [{ type: 'audit', parameters: { component: 'near' } }]
  await expect(take({ ...far, middleware_configs: another })).rejects.toThrow('audit_config.component')
})

test('an entry for limits names the Redis of the run config, and no other', async () => {
  const config = {
    rate_limit_config: limits,
    scaling_config: { session_redis: { address: 'r:6379', db: 2 } },
  }
  const entries = (redis_addr: string) => [
    { type: 'ratelimit', parameters: { config: limits, redis_addr, redis_db: 2 } },
  ]
  expect(await take({ ...config, middleware_configs: entries('r:6379') })).toEqual(config)
  await expect(take({ ...config, middleware_configs: entries('evil:6379') })).rejects.toThrow('"ratelimit"')
})

test('a refusal of entries that nothing enforces names their types', () => {
  const middleware_configs = [
    { type: 'mcp-parser', parameters: {} },
    { type: 'obo', parameters: { a: 1 } },
    { type: 'odd\nname', parameters: { a: 1 } },
  ]
  expect(() => assertEnforced({ middleware_configs })).toThrow('middleware_configs (middlewares: "obo").')
})

test('an entry for upstream tokens without parameters asks for the first one', async () => {
  const entries = [{ type: 'upstreamswap', parameters: {} }]
  expect(await take({ embedded_auth_server_config: server, middleware_configs: entries })).toEqual({
    embedded_auth_server_config: server,
    upstream_swap_config: { header_strategy: 'replace' },
  })
})

test('an entry that takes headers of callers away goes with an authorization server', async () => {
  const entries = [{ type: 'strip-auth', parameters: {} }]
  const config = { embedded_auth_server_config: { upstreams: [{ type: 'oidc' }] } }
  expect(await take({ ...config, middleware_configs: entries })).toEqual(config)
  await expect(take({ middleware_configs: entries })).rejects.toThrow('embedded_auth_server_config')
})

test('entries that no section knows stay, and so does what is not a list', async () => {
  for (const middleware_configs of [[{ type: 'authorization', parameters: { a: 1 } }], 'text', null]) {
    expect(await take({ middleware_configs })).toEqual({ middleware_configs })
  }
})
