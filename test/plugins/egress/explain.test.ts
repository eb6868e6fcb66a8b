import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEgress } from '../../../plugins/egress/service.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { resolveFrom } from './egress-world.ts'

const config: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'fetch',
  image: 'example/fetch',
  transport: 'stdio',
  port: 12_345,
  isolate_network: true,
  permission_profile: {
    network: { outbound: { allow_host: ['.example.com', '10.0.0.5'], allow_port: [443] } },
  },
}

const explain = (url: string, change: Partial<RunConfig> = {}) =>
  createEgress({
    configOf: async () => ({ ...config, ...change }),
    logOf: () => '',
    resolve: resolveFrom({ 'api.example.com': ['93.184.216.34'], 'in.example.com': ['10.0.0.6'] }),
    ownAddresses: () => new Set(),
    gatewaysOf: async () => ['172.18.0.1'],
  }).explain('fetch', url)

test.each([
  ['https://api.example.com/v1?x=y', 'api.example.com', 443],
  ['api.example.com', 'api.example.com', 443],
  ['API.example.com:443', 'api.example.com', 443],
  ['wss://api.example.com', 'api.example.com', 443],
  ['postgres://10.0.0.5:443', '10.0.0.5', 443],
])('%s is allowed, with the entry that allows it', async (url, host, port) => {
  expect(await explain(url)).toMatchObject({
    workload: 'fetch',
    allowed: true,
    rule: 'allow_host',
    host,
    port,
  })
})

test.each([
  ['http://api.example.com/', 'not_in_allow_port', ['"allow_port": [443,80]']],
  ['https://other.test/', 'not_in_allow_host', ['"allow_host": [".example.com","10.0.0.5","other.test"]']],
  ['https://in.example.com', 'private', ['"allow_host": [".example.com","10.0.0.5","10.0.0.6"]']],
  ['https://gone.example.com', 'unresolvable', undefined],
  ['https://172.18.0.1', 'gateway', ['--allow-docker-gateway']],
  ['https://[::ffff:a00:6]', 'not_in_allow_host', ['"allow_host": [".example.com","10.0.0.5","10.0.0.6"]']],
])('%s is denied by %s, with what to add', async (url, rule, add) => {
  expect(await explain(url)).toMatchObject({ allowed: false, rule, ...(add ? { add } : {}) })
})

test('a workload that is not isolated reaches everything, and explain says so', async () => {
  expect(await explain('https://10.9.9.9', { isolate_network: false })).toMatchObject({
    allowed: true,
    rule: 'not_isolated',
  })
  const host = { permission_profile: { network: { mode: 'host' } } }
  expect((await explain('10.9.9.9', host)).reason).toContain('network mode "host"')
})

test('a workload without a network reaches nothing', async () => {
  const none = { permission_profile: { network: { mode: 'none', outbound: { insecure_allow_all: true } } } }
  expect(await explain('https://api.example.com', none)).toMatchObject({ allowed: false, rule: 'no_network' })
})

test.each([
  '',
  'https://',
  'https://user:hunter2@a.test/',
  'gopher://a.test',
  'a.test:0',
  'a.test:65536',
  'a:b:c',
  'a.test:x',
])('"%s" is refused; nothing of it that could be a secret is repeated', async url => {
  const error = await explain(url).catch(String)
  expect(error).toContain('That is not a destination')
  expect(error).not.toContain('hunter2')
})

async function userWithWorkload(change: Partial<RunConfig> = {}) {
  const user = await keelsonUser()
  const folder = join(user.home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'fetch.json'), JSON.stringify({ ...config, ...change }))
  return user
}

test('the command exits with 0 when allowed', async () => {
  const { run } = await userWithWorkload()
  const { code, stdout } = await run(['egress', 'explain', 'fetch', 'https://10.0.0.5/'])
  expect(stdout).toBe(
    [
      'Allowed: fetch to 10.0.0.5:443',
      'Rule:      allow_host',
      'Reason:    network.outbound.allow_host[1] ("10.0.0.5") allows it',
      'Addresses: 10.0.0.5',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
})

test('the command exits with 3 when denied, and says what to add', async () => {
  const { run } = await userWithWorkload()
  const { code, stdout } = await run(['egress', 'explain', 'fetch', 'http://10.0.0.5/'])
  expect(stdout).toMatch(/^Denied: fetch to 10\.0\.0\.5:80\nRule: {6}not_in_allow_port\n/)
  expect(stdout).toMatch(
    /To allow it, in network\.outbound of its permission profile:\n {2}"allow_port": \[443,80\]\n$/,
  )
  expect(code).toBe(3)
})

test('the command prints JSON', async () => {
  const { run } = await userWithWorkload()
  const { code, stdout } = await run(['egress', 'explain', 'fetch', '169.254.169.254', '--format=json'])
  expect(JSON.parse(stdout)).toMatchObject({
    workload: 'fetch',
    allowed: false,
    rule: 'not_in_allow_host',
    port: 443,
  })
  expect(code).toBe(3)
})

test('a workload that is not there is a failure, a URL that cannot be read wrong usage', async () => {
  const { run } = await userWithWorkload()
  const missing = await run(['egress', 'explain', 'nobody', 'https://a.test'])
  expect(missing).toMatchObject({ code: 1, stdout: '' })
  expect(missing.stderr).toContain('nobody')
  expect(await run(['egress', 'explain', 'fetch', 'gopher://a.test'])).toMatchObject({ code: 2, stdout: '' })
})
