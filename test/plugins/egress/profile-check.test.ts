import { expect, test } from 'vitest'
import { checkProfile } from '../../../plugins/egress/profile-check.ts'
import { egressSection } from '../../../plugins/egress/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure } from '../../../src/errors.ts'
import { checkSection } from '../../../src/sections.ts'

const outbound = (value: unknown) => ({ network: { outbound: value } })

test.each([
  [
    outbound({ allow_port: [443, 70_000] }),
    'network.outbound.allow_port[1] is 70000; it takes a port from 1 to 65535',
  ],
  [outbound({ allow_port: [0] }), 'network.outbound.allow_port[0] is 0; it takes a port from 1 to 65535'],
  [
    outbound({ allow_port: ['443'] }),
    'network.outbound.allow_port[0] is "443"; it takes a port from 1 to 65535',
  ],
  [outbound({ allow_port: 443 }), 'network.outbound.allow_port is 443; it takes a list'],
  [outbound({ allow_host: ['ok.test', 7] }), 'network.outbound.allow_host[1] is 7; it takes a text'],
  [
    outbound({ allow_host: ['https://a.test/x'] }),
    'network.outbound.allow_host[0] is "https://a.test/x"; it takes a host alone, without scheme and path',
  ],
  [
    outbound({ allow_host: ['a.test:443'] }),
    'network.outbound.allow_host[0] is "a.test:443"; a port goes into allow_port',
  ],
  [
    outbound({ allow_host: ['10.0.0.0/8'] }),
    'network.outbound.allow_host[0] is "10.0.0.0/8"; ranges are not taken; list the addresses one by one',
  ],
  [
    outbound({ allow_host: ['*'] }),
    'network.outbound.allow_host[0] is "*"; to allow everything public, set insecure_allow_all',
  ],
  [
    outbound({ allow_host: ['a.*.test'] }),
    'network.outbound.allow_host[0] is "a.*.test"; a star is only taken at the start, as in *.example.com',
  ],
  [outbound({ allow_host: [''] }), 'network.outbound.allow_host[0] is ""; it is empty'],
  [
    outbound({ allow_host: ['0.0.0.0'] }),
    'network.outbound.allow_host[0] is "0.0.0.0"; nothing can be connected to there',
  ],
  [
    outbound({ insecure_allow_all: 'yes' }),
    'network.outbound.insecure_allow_all is "yes"; it takes true or false',
  ],
  [outbound([]), 'network.outbound is a list; it takes an object'],
  [{ network: 'none' }, 'network is "none"; it takes an object'],
  [
    { network: { inbound: { allow_host: ['a b'] } } },
    'network.inbound.allow_host[0] is "a b"; it is not a host name',
  ],
  [{ read: ['/data', 3] }, 'read[1] is 3; it takes a text'],
  [{ write: [''] }, 'write[0] is empty; it takes a path'],
  [{ privileged: 1 }, 'privileged is 1; it takes true or false'],
  [[], 'the profile is a list; it takes an object'],
])('%j is refused, the member named', (profile, error) => {
  expect(checkProfile(profile).errors).toEqual([error])
})

test('all errors of a profile are reported together', () => {
  expect(checkProfile({ name: 1, ...outbound({ allow_port: [0], allow_host: ['*'] }) }).errors).toHaveLength(
    3,
  )
})

test('unknown members, __proto__ too, are warned about and change nothing', () => {
  const profile = JSON.parse(
    '{"nmae":"x","__proto__":{"a":1},"network":{"outbound":{"allow_hosts":["a.test"]}}}',
  )
  expect(checkProfile(profile)).toEqual({
    errors: [],
    warnings: [
      'nmae is not known and does nothing',
      '__proto__ is not known and does nothing',
      'network.outbound.allow_hosts is not known and does nothing',
    ],
  })
})

test.each([
  {},
  { network: null },
  { network: {} },
  { name: 'x', read: ['/a'], write: ['/b:/c'], privileged: false },
  outbound({
    insecure_allow_all: false,
    allow_host: ['a.test', 'a.test', '.b.test', '*.c.test', '::1', 'bücher.example'],
    allow_port: [1, 1, 65_535],
  }),
])('%j is fine', profile => {
  expect(checkProfile(profile)).toEqual({ errors: [], warnings: [] })
})

test('a whole top-level domain is warned about', () => {
  expect(checkProfile(outbound({ allow_host: ['.com'] })).warnings).toHaveLength(1)
})

test('the section refuses a run config with such a profile', () => {
  const config = { permission_profile: outbound({ allow_port: [0] }) } as unknown as RunConfig
  const check = () => checkSection(egressSection, config)
  expect(check).toThrow(/permission profile is not valid: network\.outbound\.allow_port\[0\]/)
  expect(check).toThrow(expect.toSatisfy(error => isFailure(error, 'profile_invalid')))
})

test('the section refuses switches that are not booleans', () => {
  const config = { isolate_network: 'true' } as unknown as RunConfig
  expect(() => checkSection(egressSection, config)).toThrow('isolate_network is true or false.')
})
