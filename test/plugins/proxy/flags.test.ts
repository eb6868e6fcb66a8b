import { describe, expect, test } from 'vitest'
import { bodyFlags, protocolFlags, proxyFlags } from '../../../plugins/proxy/flags.ts'
import { clientUrl, effectiveMode, sessionTtlOf } from '../../../plugins/proxy/index.ts'
import { maxBodyOf, proxySection, saidProtocol } from '../../../plugins/proxy/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'

const config = (more: Partial<RunConfig> = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'w',
  transport: 'streamable-http',
  port: 0,
  ...more,
})

/** What the flags write into an empty run config. */
async function applied(given: Record<string, string[]>): Promise<Partial<RunConfig>> {
  const values = Object.fromEntries(
    Object.entries(proxyFlags.flags).map(([name, flag]) => {
      const texts = given[name]
      if (!texts) return [name, flag.fallback]
      const parsed = texts.map(text => flag.parse(text, name))
      return [name, flag.kind === 'list' ? parsed.flat() : parsed.at(-1)]
    }),
  )
  const result: Partial<RunConfig> = {}
  await proxyFlags.apply?.(values, result as RunConfig, new Set(Object.keys(given)), () => undefined)
  return result
}

describe('the flags of run', () => {
  test('write nothing when none is given', async () => {
    expect(await applied({})).toEqual({})
  })

  test('write the members of the run config, durations as Go does', async () => {
    expect(
      await applied({
        'allowed-origins': ['https://a.example,https://b.example', 'https://c.example'],
        'endpoint-prefix': ['/tools'],
        host: ['localhost'],
        'proxy-mode': ['sse'],
        'proxy-port': ['8080'],
        'session-ttl': ['90m'],
        stateless: ['true'],
        'trust-proxy-headers': ['true'],
        'target-host': ['0.0.0.0'],
        'target-port': ['3000'],
      }),
    ).toEqual({
      allowed_origins: ['https://a.example', 'https://b.example', 'https://c.example'],
      endpoint_prefix: '/tools',
      host: '127.0.0.1',
      proxy_mode: 'sse',
      port: 8080,
      session_ttl: '1h30m0s',
      stateless: true,
      trust_proxy_headers: true,
      target_host: '0.0.0.0',
      target_port: 3000,
    })
  })

  test('a session lifetime of zero means the default', async () => {
    expect(await applied({ 'session-ttl': ['0'] })).toEqual({})
    expect(sessionTtlOf(config())).toBe(7_200_000)
    expect(sessionTtlOf(config({ session_ttl: '30m' }))).toBe(1_800_000)
  })

  test.each([
    ['host', '::1', /--host takes an IPv4 address/],
    ['host', 'no-such-name.invalid', /--host "no-such-name.invalid" is neither/],
    ['proxy-port', '70000', /--proxy-port takes/],
    ['proxy-mode', 'websocket', /--proxy-mode takes one of/],
    ['session-ttl', '-5m', /--session-ttl takes a duration/],
  ])('--%s %s is refused', async (name, value, text) => {
    await expect(applied({ [name]: [value] })).rejects.toMatchObject({
      exit: 2,
      message: expect.stringMatching(text),
    })
  })
})

test.each([
  ['512k', 524_288],
  ['16m', 16_777_216],
])('--max-body-size %s is %i bytes', async (size, bytes) => {
  const written: Partial<RunConfig> = {}
  await bodyFlags.apply?.({ 'max-body-size': size }, written as RunConfig, new Set(), () => undefined)
  expect(written).toEqual({ max_body_bytes: bytes })
})

test.each(['auto', 'legacy', 'stateless'] as const)('--protocol %s is kept', async protocol => {
  const written: Partial<RunConfig> = {}
  await protocolFlags.apply?.({ protocol }, written as RunConfig, new Set(['protocol']), () => undefined)
  expect(written).toEqual({ protocol })
  expect(saidProtocol(written)).toBe(protocol === 'auto' ? undefined : protocol)
})

test('a body limit that ToolHive writes for the default is the default', () => {
  for (const max_body_bytes of [-1, 0]) expect(maxBodyOf({ max_body_bytes })).toBe(maxBodyOf({}))
})

describe('the section', () => {
  test.each([
    ['stdio', { transport: 'stdio', stateless: true }, /--stateless needs --transport streamable-http/],
    ['sse', { transport: 'sse', stateless: true }, /--stateless needs/],
    ['a stateless server of SSE', { transport: 'sse', protocol: 'stateless' }, /has no transport sse/],
    ['a protocol nobody knows', { protocol: 'modern' as never }, /protocol/],
    ['a prefix without slash', { endpoint_prefix: 'tools' }, /--endpoint-prefix takes a path/],
    ['an origin without scheme', { allowed_origins: ['a.example'] }, /--allowed-origins takes origins/],
    ['the origin null', { allowed_origins: ['null'] }, /--allowed-origins takes origins/],
    ['a body limit of bytes alone', { max_body_bytes: 100 }, /--max-body-size takes a size from 1k to 64m/],
    ['a body limit beyond the most', { max_body_bytes: 2 ** 26 + 1 }, /--max-body-size takes a size/],
    ['a session lifetime of words', { session_ttl: 'long' }, /--session-ttl takes a duration/],
    [
      'text for a truth',
      { trust_proxy_headers: 'yes' as unknown as boolean },
      /trust_proxy_headers is true or false/,
    ],
  ] as const)('%s is refused', (_what, more, text) => {
    expect(() => checkSection(proxySection, config(more as Partial<RunConfig>))).toThrow(text)
  })

  test('a proper one passes', () => {
    checkSection(
      proxySection,
      config({
        stateless: true,
        endpoint_prefix: '/x',
        allowed_origins: ['https://a.example'],
        session_ttl: '2h0m0s',
      }),
    )
  })
})

describe('the URL of a workload', () => {
  test.each([
    [{}, 'http://127.0.0.1:7/mcp'],
    [{ host: '0.0.0.0' }, 'http://127.0.0.1:7/mcp'],
    [{ host: '192.168.1.5' }, 'http://192.168.1.5:7/mcp'],
    [{ transport: 'sse' }, 'http://127.0.0.1:7/sse#w'],
    [{ transport: 'stdio' }, 'http://127.0.0.1:7/mcp'],
    [{ transport: 'stdio', proxy_mode: 'sse' }, 'http://127.0.0.1:7/sse#w'],
    [{ transport: 'streamable-http', proxy_mode: 'sse' }, 'http://127.0.0.1:7/mcp'],
    [{ remote_url: 'https://x.example/v1/mcp?key=hidden' }, 'http://127.0.0.1:7/v1/mcp'],
    [{ remote_url: 'https://x.example/' }, 'http://127.0.0.1:7'],
    [{ remote_url: 'https://x.example/', transport: 'sse' }, 'http://127.0.0.1:7/sse#w'],
    [{ remote_url: 'https://x.example/events', transport: 'sse' }, 'http://127.0.0.1:7/events#w'],
    [{ host: '::1' }, 'http://[::1]:7/mcp'],
    [{ host: '::' }, 'http://127.0.0.1:7/mcp'],
    [{ host: '0.0.0.0' }, 'http://127.0.0.1:7/mcp'],
    [{ host: '192.0.2.1' }, 'http://192.0.2.1:7/mcp'],
    [{ host: '2001:db8::1' }, 'http://[2001:db8::1]:7/mcp'],
  ] as const)('%j: %s', (more, url) => {
    expect(clientUrl(config({ ...more, port: 7 }))).toBe(url)
  })

  test('a proxy mode beside HTTP says nothing', () => {
    expect(effectiveMode(config({ transport: 'sse', proxy_mode: 'streamable-http' }))).toBe('sse')
  })
})
