import { expect, test } from 'vitest'
import { egressFlags } from '../../../plugins/egress/flags.ts'
import { networkKindOf } from '../../../plugins/egress/network-isolation.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

/** A run config as `run` makes it with these flags. */
function configWith(flags: Record<string, boolean>, mode?: string): RunConfig {
  const config: RunConfig = { schema_version: 'v0.1.0', name: 'x', transport: 'stdio', port: 0 }
  if (mode !== undefined) config.permission_profile = { network: { mode } }
  const values = { 'isolate-network': true, 'allow-docker-gateway': false, ...flags }
  egressFlags.apply?.(values, config, new Set(Object.keys(flags)), () => undefined)
  return config
}

test('isolation is the default, and can be refused', () => {
  expect(configWith({})).toMatchObject({ isolate_network: true })
  expect(configWith({})).not.toHaveProperty('allow_docker_gateway')
  expect(configWith({ 'isolate-network': false })).toMatchObject({ isolate_network: false })
  expect(configWith({ 'allow-docker-gateway': true })).toMatchObject({ allow_docker_gateway: true })
})

test.each(['', 'bridge', 'default'])('the network mode "%s" is isolated', mode => {
  expect(networkKindOf(configWith({}, mode))).toBe('isolated')
})

test.each(['host', 'my-network'])(
  'the network mode %s turns isolation off, unless it was asked for',
  mode => {
    expect(configWith({}, mode).isolate_network).toBe(false)
    expect(() => configWith({ 'isolate-network': true }, mode)).toThrow(
      `--isolate-network cannot be combined with the network mode "${mode}".`,
    )
    expect(networkKindOf(configWith({}, mode))).toBe('open')
  },
)

test('the network mode none needs no isolation', () => {
  expect(networkKindOf(configWith({ 'isolate-network': true }, 'none'))).toBe('none')
})

test('a server is isolated unless somebody says that it is not to be; what runs elsewhere is not', () => {
  const { isolate_network: _, ...silent } = configWith({})
  expect(networkKindOf(silent)).toBe('isolated')
  expect(networkKindOf({ ...silent, isolate_network: false })).toBe('open')
  expect(networkKindOf({ ...configWith({}), remote_url: 'https://a.test/' })).toBe('open')
})
