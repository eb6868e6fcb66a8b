import { expect, test } from 'vitest'
import { rateLimitFlags } from '../../../plugins/rate-limit/flags.ts'
import { rateLimitMiddleware } from '../../../plugins/rate-limit/middleware.ts'
import { rateLimitPreparation } from '../../../plugins/rate-limit/preparation.ts'
import { rateLimitOf, rateLimitSection } from '../../../plugins/rate-limit/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import { checkSection } from '../../../src/sections.ts'

const configOf = (rate_limit_config: unknown, more: object = {}) =>
  ({ name: 'a', transport: 'stdio', port: 0, rate_limit_config, ...more }) as RunConfig
const bucket = (maxTokens: unknown, refillPeriod: unknown) => ({ maxTokens, refillPeriod })
const good = bucket(1, '1m0s')
const redis = (address: string) => ({ scaling_config: { session_redis: { address } } })

test.each<[string, unknown]>([
  ['no tokens', { shared: bucket(0, '1s') }],
  ['no tokens and no time', { shared: bucket(0, '') }],
  ['half a token', { shared: bucket(1.5, '1s') }],
  ['too many tokens', { shared: bucket(1_000_001, '1s') }],
  ['no period', { shared: { maxTokens: 1 } }],
  ['a period of zero', { perUser: bucket(1, '0') }],
  ['a negative period', { perUser: bucket(1, '-1s') }],
  ['a period that is too long', { perUser: bucket(1, '721h') }],
  ['a period as a number', { perUser: bucket(1, 60) }],
  ['a tool without a name', { tools: [{ name: '', shared: good }] }],
  ['a tool without a bucket', { tools: [{ name: 'a' }] }],
  [
    'a tool that is there twice',
    {
      tools: [
        { name: 'a', shared: good },
        { name: 'a', perUser: good },
      ],
    },
  ],
  ['a wrong bucket of a tool', { tools: [{ name: 'a', shared: bucket(0, '1s') }] }],
  ['another member', { shared: good, perTool: good }],
  ['another member of a bucket', { shared: { ...good, burst: 1 } }],
  ['an unknown choice', { shared: good, onError: 'allow' }],
  ['a negative count', { maxConcurrentCalls: -1 }],
  ['more calls of each user than of all', { maxConcurrentCalls: 2, maxConcurrentCallsPerUser: 3 }],
  ['a time-out that is no duration', { callTimeout: 'soon' }],
  ['a time-out of zero', { callTimeout: '0s' }],
])('limits with %s are refused', (_, said) => {
  expect(() => checkSection(rateLimitSection, configOf(said))).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('rate_limit_config') }),
  )
})

test.each(['100/min', '0/1m', '1000001/1m', 'many', '100/'])(
  '--rate-limit %s is told in its own words',
  text => {
    expect(() =>
      rateLimitFlags.apply?.({ 'rate-limit': text } as never, {} as never, new Set(), {} as never),
    ).toThrow(`--rate-limit takes calls and a duration such as 100/1m, not "${text}".`)
  },
)

test('what asks for nothing limits nothing, and loads nothing', async () => {
  for (const said of [
    undefined,
    null,
    {},
    { shared: null, perUser: null, tools: null, onError: '' },
    { tools: [] },
  ]) {
    const config = configOf(said)
    checkSection(rateLimitSection, config)
    expect(rateLimitOf(config)).toBeUndefined()
    expect(await rateLimitMiddleware({} as never)(config, { host: '', port: 0 }, {} as never)).toBeUndefined()
  }
})

test('the session Redis is for rates alone', () => {
  const check = (config: RunConfig) => {
    assertEnforced(config, new Set(['rate_limit_config']))
    checkSection(rateLimitSection, config)
  }
  const unenforced = expect.objectContaining({ code: 'section_unenforced' })
  check(configOf({ shared: good }, redis('redis.example:6379')))
  check(configOf({ shared: good }, redis('rediss://redis.example')))
  expect(() => check(configOf(null, redis('redis.example:6379')))).toThrow(unenforced)
  expect(() => check(configOf({ callTimeout: '1s' }, redis('redis.example:6379')))).toThrow(unenforced)
  const replicas = { scaling_config: { backend_replicas: 2, session_redis: { address: 'a:1' } } }
  expect(() => check(configOf({ shared: good }, replicas))).toThrow(unenforced)
  const other = { Scaling_Config: { session_redis: { address: 'a:1' } } }
  expect(() => check(configOf({ shared: good }, other))).toThrow(unenforced)
  for (const address of ['a b', 'http://a', 'a:0', 'user@a:1', 'redis.example:6379/2']) {
    expect(() => check(configOf({ shared: good }, redis(address)))).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('HOST:PORT') }),
    )
  }
})

test('Sentinel and clusters are refused by name', () => {
  for (const address of ['redis-sentinel://a:26379', 'sentinel://a', 'a:26379,b:26379']) {
    const config = configOf({ shared: good }, redis(address))
    expect(() => checkSection(rateLimitSection, config)).toThrow(/Sentinel/)
  }
  checkSection(rateLimitSection, configOf({ shared: good }, redis('sentinel.example:6379')))
})

test('a Redis gets our password only if the person names it', async () => {
  const config = configOf({ shared: good }, redis('evil.example:6379'))
  const complete = (options: object) => rateLimitPreparation().complete?.(config, { options } as never)
  const unconfirmed = { code: 'limit_redis_unconfirmed' }
  await expect(complete({ 'from-config': 'a.json' })).rejects.toMatchObject(unconfirmed)
  const other = { 'from-config': 'a.json', 'rate-limit-redis': 'mine.example:6379' }
  await expect(complete(other)).rejects.toMatchObject(unconfirmed)
  const named = { 'from-config': 'a.json', 'rate-limit-redis': 'evil.example:6379' }
  await expect(complete(named)).resolves.toBe(config)

  const { scaling_config } = config
  const toMembers = (asked: object, kept: object) => rateLimitSection.request?.toMembers?.({ ...asked }, kept)
  expect(() => toMembers({ scaling_config }, {})).toThrow(
    expect.objectContaining({ code: 'limit_redis_over_http' }),
  )
  expect(toMembers({ scaling_config }, { scaling_config })).toEqual({ scaling_config })
})
