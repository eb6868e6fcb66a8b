import { expect, test } from 'vitest'
import { decide } from '../../../plugins/egress/decide.ts'
import { compilePolicy, type PolicyOptions } from '../../../plugins/egress/policy.ts'
import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import { resolveFrom } from './egress-world.ts'

const PUBLIC = '93.184.216.34'

type Outbound = NonNullable<NonNullable<PermissionProfile['network']>['outbound']>
const allowing = (outbound: Outbound): PermissionProfile => ({ network: { outbound } })

/** Asks about `host:port`; names not given here have a public address. */
function ask(
  profile: PermissionProfile | undefined,
  host: string,
  options: PolicyOptions & { port?: number; names?: Record<string, string[]>; own?: string[] } = {},
) {
  const { port = 443, names, own = [] } = options
  return decide(
    compilePolicy(profile, options),
    { host, port },
    { resolve: names ? resolveFrom(names) : async () => [PUBLIC], ownAddresses: () => new Set(own) },
  )
}

test.each([
  ['example.com', 'example.com'],
  ['example.com', 'EXAMPLE.Com'],
  ['example.com', 'example.com.'],
  ['EXAMPLE.com.', 'example.com'],
  ['.example.com', 'example.com'],
  ['.example.com', 'a.b.example.com'],
  ['*.example.com', 'example.com'],
  ['*.example.com', 'a.b.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'BÜCHER.example'],
  ['.bücher.example', 'www.xn--bcher-kva.example'],
  [PUBLIC, PUBLIC],
  [PUBLIC, '0x5db8d822'],
  ['2606:4700::1111', '[2606:4700:0:0:0:0:0:1111]'],
  ['[2606:4700::1111]', '2606:4700::1111'],
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3', '[::ffff:10.1.2.3]'],
  ['127.0.0.1', '127.1'],
])('the entry %s allows %s', async (entry, host) => {
  const decision = await ask(allowing({ allow_host: ['other.example', entry] }), host)
  expect(decision).toMatchObject({
    allowed: true,
    rule: 'allow_host',
    member: 'network.outbound.allow_host[1]',
  })
})

test.each([
  ['example.com', 'www.example.com'],
  ['example.com', 'example.com.evil.test'],
  ['example.com', 'notexample.com'],
  ['.example.com', 'notexample.com'],
  ['*.example.com', 'example.com.evil.test'],
  ['example.com', PUBLIC],
  [PUBLIC, '93.184.216.35'],
  ['https://example.com', 'example.com'],
  ['example.com:443', 'example.com'],
  ['*', 'example.com'],
  ['exa*mple.com', 'example.com'],
  ['.', 'example.com'],
])('the entry %s does not allow %s', async (entry, host) => {
  const decision = await ask(allowing({ allow_host: [entry] }), host)
  expect(decision).toMatchObject({ allowed: false, rule: 'not_in_allow_host' })
})

test.each([
  ['both lists need both', { allow_host: ['a.test'], allow_port: [443] }, 'a.test', 443, true],
  ['the port is missing', { allow_host: ['a.test'], allow_port: [443] }, 'a.test', 80, false],
  ['the host is missing', { allow_host: ['a.test'], allow_port: [443] }, 'b.test', 443, false],
  ['hosts alone mean any port', { allow_host: ['a.test'] }, 'a.test', 2222, true],
  ['ports alone mean any public host', { allow_port: [443] }, 'b.test', 443, true],
  ['ports alone', { allow_port: [443] }, 'b.test', 80, false],
  ['neither means nothing', {}, 'a.test', 443, false],
  ['empty lists mean nothing', { allow_host: [], allow_port: [] }, 'a.test', 443, false],
  ['all public', { insecure_allow_all: true }, 'a.test', 1, true],
  ['all public beats the lists', { insecure_allow_all: true, allow_host: ['b.test'] }, 'a.test', 1, true],
] as const)('%s', async (_, outbound, host, port, allowed) => {
  expect((await ask(allowing(outbound as unknown as Outbound), host, { port })).allowed).toBe(allowed)
})

test('no profile at all means everything public', async () => {
  expect(await ask(undefined, 'a.test')).toMatchObject({ allowed: true, rule: 'insecure_allow_all' })
  expect(await ask(undefined, '10.0.0.1')).toMatchObject({ allowed: false, rule: 'private' })
})

test.each([
  {},
  { network: {} },
  { network: { outbound: {} } },
  { network: null },
  { network: { outbound: null } },
  { network: { outbound: { allow_host: null, allow_port: null } } },
  { network: { outbound: { allow_host: 'a.test' } } },
  { network: { outbound: { allow_host: [7, null] } } },
  { network: { outbound: { allow_host: [7], allow_port: [443] } } },
  { network: { outbound: { allow_host: 'a.test', allow_port: [443] } } },
  { network: { outbound: { allow_port: 'any' } } },
  { network: { outbound: { insecure_allow_all: 'yes' } } },
  { network: 'none' },
])('the profile %j allows nothing and breaks nothing', async profile => {
  expect((await ask(profile as unknown as PermissionProfile, 'a.test')).allowed).toBe(false)
})

test.each([
  ['127.0.0.1', 'loopback'],
  ['127.1', 'loopback'],
  ['0x7f000001', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['2130706433', 'loopback'],
  ['017700000001', 'loopback'],
  ['0177.0.0.1', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['１２７.0.0.1', 'loopback'],
  ['localhost', 'loopback'],
  ['a.localhost', 'loopback'],
  ['[::1]', 'loopback'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['[::ffff:7f00:1]', 'loopback'],
  ['[::127.0.0.1]', 'loopback'],
  ['[::ffff:0:127.0.0.1]', 'loopback'],
  ['[64:ff9b::127.0.0.1]', 'loopback'],
  ['[64:ff9b:1::127.0.0.1]', 'private'],
  ['[2002:7f00:1::]', 'loopback'],
  ['[2001:0:7f00:1::]', 'loopback'],
  ['[2001:0:5db8:d822:0:0:80ff:fffe]', 'loopback'],
  ['0.0.0.0', 'unspecified'],
  ['0', 'unspecified'],
  ['[::]', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['0xc0a80101', 'private'],
  ['[64:ff9b::192.168.1.1]', 'private'],
  ['[fd12::1]', 'private'],
  ['[fec0::1]', 'private'],
  ['100.64.0.1', 'carrier_nat'],
  ['169.254.1.1', 'link_local'],
  ['[fe80::1]', 'link_local'],
  ['169.254.169.254', 'metadata'],
  ['0xa9fea9fe', 'metadata'],
  ['[fd00:ec2::254]', 'metadata'],
  ['[::ffff:169.254.169.254]', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['224.0.0.1', 'multicast'],
  ['[ff02::1]', 'multicast'],
  ['255.255.255.255', 'reserved'],
  ['240.0.0.1', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['[2001:db8::1]', 'reserved'],
  ['[100::1]', 'reserved'],
  ['[2002:5db8:d822::1]', 'tunnel'],
  ['[::93.184.216.34]', 'tunnel'],
  ['127.0.0.256', 'host_invalid'],
  ['1.2.3.4.5', 'host_invalid'],
  ['0x', 'host_invalid'],
  ['08.8.8.8', 'host_invalid'],
  ['[fe80::1%eth0]', 'host_invalid'],
  ['', 'host_invalid'],
  ['a..b', 'host_invalid'],
  ['a b', 'host_invalid'],
  ['a%2eb', 'host_invalid'],
  [`${'a'.repeat(64)}.test`, 'host_invalid'],
])('%s is denied as %s even where everything is allowed', async (host, rule) => {
  expect(await ask(allowing({ insecure_allow_all: true }), host)).toMatchObject({ allowed: false, rule })
})

test.each([PUBLIC, '172.32.0.1', '100.128.0.1', '11.0.0.1', '[2606:4700::1111]', '[64:ff9b::93.184.216.34]'])(
  '%s is public',
  async host => {
    expect((await ask(undefined, host)).allowed).toBe(true)
  },
)

test('a name that resolves to a private address is denied, the name being allowed or not', async () => {
  const names = { 'db.test': ['10.0.0.5'] }
  const decision = await ask(allowing({ allow_host: ['db.test'] }), 'db.test', { names })

  expect(decision).toMatchObject({ allowed: false, rule: 'private', addresses: ['10.0.0.5'] })
  expect(decision.add).toEqual(['"allow_host": ["db.test","10.0.0.5"]'])
})

test('a name that resolves to a private address is allowed when that address is listed too', async () => {
  const names = { 'db.test': ['10.0.0.5'] }
  const decision = await ask(allowing({ allow_host: ['db.test', '10.0.0.5'] }), 'db.test', { names })
  expect(decision).toMatchObject({ allowed: true, addresses: ['10.0.0.5'] })
})

test('one denied address among allowed ones denies the name', async () => {
  const names = { 'mix.test': [PUBLIC, '::ffff:127.0.0.1'] }
  expect(await ask(undefined, 'mix.test', { names })).toMatchObject({ allowed: false, rule: 'loopback' })
})

test('a private address that is listed is bound to the listed ports, also where all is allowed', async () => {
  const profile = allowing({ insecure_allow_all: true, allow_host: ['10.0.0.5'], allow_port: [5432] })
  expect((await ask(profile, '10.0.0.5', { port: 5432 })).allowed).toBe(true)
  const denied = await ask(profile, '10.0.0.5', { port: 22 })
  expect(denied).toMatchObject({ allowed: false, rule: 'private', add: ['"allow_port": [5432,22]'] })
})

test('a name that is denied is not looked up', async () => {
  const asked: string[] = []
  const policy = compilePolicy(allowing({ allow_host: ['good.test'] }))
  const world = { resolve: resolveFrom({}, asked), ownAddresses: () => new Set<string>() }
  await decide(policy, { host: 'secret-data.evil.test', port: 443 }, world)
  expect(asked).toEqual([])
})

test('a name without an address, or whose look-up fails, is unresolvable', async () => {
  const world = { ownAddresses: () => new Set<string>() }
  const failing = { ...world, resolve: () => Promise.reject(new Error('SERVFAIL')) }
  expect(await ask(undefined, 'gone.test', { names: {} })).toMatchObject({ rule: 'unresolvable' })
  const policy = compilePolicy(undefined)
  expect(await decide(policy, { host: 'gone.test', port: 1 }, failing)).toMatchObject({
    rule: 'unresolvable',
  })
})

test('an address of this machine is denied, public or not', async () => {
  const options = { own: [PUBLIC] }
  expect(await ask(undefined, 'self.test', options)).toMatchObject({ allowed: false, rule: 'own_address' })
  expect(await ask(undefined, `[64:ff9b::${PUBLIC}]`, options)).toMatchObject({ rule: 'own_address' })
})

test.each([
  'host.docker.internal',
  'GATEWAY.docker.internal.',
  'host.containers.internal',
  '172.17.0.1',
  '[::ffff:172.17.0.1]',
  '[64:ff9b::172.17.0.1]',
])('%s is the gateway, which only its own switch allows', async host => {
  const gateways = ['172.17.0.1']
  const profile = allowing({ insecure_allow_all: true, allow_host: ['host.docker.internal', '172.17.0.1'] })
  const closed = await ask(profile, host, { gateways })
  expect(closed).toMatchObject({ allowed: false, rule: 'gateway', add: ['--allow-docker-gateway'] })
  const none = allowing({})
  const open = await ask(none, host, { gateways, allowGateway: true })
  expect(open).toMatchObject({ allowed: true, rule: 'allow_docker_gateway' })
})

test('another name for the gateway is denied with it', async () => {
  const options = { gateways: ['172.17.0.1'], names: { 'sneaky.test': ['172.17.0.1'] } }
  expect(await ask(undefined, 'sneaky.test', options)).toMatchObject({ allowed: false, rule: 'gateway' })
})

test('a gateway name that leads to the metadata service is denied even when the gateway is allowed', async () => {
  const options = { allowGateway: true, names: { 'host.docker.internal': ['169.254.169.254'] } }
  expect(await ask(undefined, 'host.docker.internal', options)).toMatchObject({ rule: 'metadata' })
})

test('a denial says which lines the profile lacks', async () => {
  expect((await ask(allowing({}), 'a.test')).add).toEqual(['"allow_host": ["a.test"]', '"allow_port": [443]'])
  const hosts = allowing({ allow_host: ['b.test'] })
  expect((await ask(hosts, 'a.test')).add).toEqual(['"allow_host": ["b.test","a.test"]'])
  const both = allowing({ allow_host: ['a.test'], allow_port: [80] })
  expect((await ask(both, 'a.test')).add).toEqual(['"allow_port": [80,443]'])
})

test('a host that would steer a terminal is shown harmlessly', async () => {
  const { host, reason } = await ask(undefined, 'a\u001b[2J\u009b\u202e b\n')
  expect(`${host} ${reason}`).not.toMatch(/[^\P{C}]/u)
  expect(host).toBe('a?[2J???b?')
})
