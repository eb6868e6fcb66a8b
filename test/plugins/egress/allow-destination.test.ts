import { expect, test } from 'vitest'
import { allowDestination } from '../../../plugins/egress/allow-destination.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const config = (outbound: object): RunConfig =>
  ({
    name: 'a',
    permission_profile: { name: 'mine', read: ['/x'], network: { mode: 'bridge', outbound } },
  }) as RunConfig
const world = {
  resolve: async (name: string) => (name === 'inside.example' ? ['10.0.0.6'] : ['93.184.216.34']),
  ownAddresses: () => new Set(['198.51.100.7']),
}
const allow = async (outbound: object, host: string, port: number) =>
  (await allowDestination(config(outbound), { host, port }, world))?.permission_profile

test.each([
  [{}, { allow_host: ['api.example'], allow_port: [443] }],
  [{ allow_host: ['b.example'] }, { allow_host: ['b.example', 'api.example'] }],
  [
    { allow_host: ['b.example'], allow_port: [80] },
    { allow_host: ['b.example', 'api.example'], allow_port: [80, 443] },
  ],
  [
    { allow_host: ['api.example'], allow_port: [80] },
    { allow_host: ['api.example'], allow_port: [80, 443] },
  ],
])('%j becomes %j, and the rest of the profile stays', async (before, after) => {
  expect(await allow(before, 'api.example', 443)).toEqual({
    name: 'mine',
    read: ['/x'],
    network: { mode: 'bridge', outbound: after },
  })
})

test.each(['10.0.0.6', 'inside.example', '198.51.100.7', '169.254.169.254', '127.0.0.1', '[::1]'])(
  '%s is not public, and is not allowed by this way',
  async host => {
    expect(await allow({}, host, 443)).toBeUndefined()
  },
)

test('what is allowed already stays as it is', async () => {
  expect(await allow({ allow_host: ['.example'] }, 'api.example', 443)).toBeUndefined()
})
