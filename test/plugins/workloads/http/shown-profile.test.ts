import { expect, test } from 'vitest'
import { shownProfile, withoutShown } from '../../../../plugins/workloads/http/shown-profile.ts'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'

const config = (members: Partial<RunConfig> = {}): RunConfig => ({
  ...{ schema_version: 'v0.1.0', name: 'a', image: 'a/b', transport: 'stdio', port: 10_000, ...members },
})
const NETWORK = { name: 'network', network: { outbound: { insecure_allow_all: true } } }
const volumes = ['/notes:/notes:ro', '/out:/out']

test('a workload without a profile has the built-in one, and its volumes are shown as mounts', () => {
  expect(shownProfile(config())).toEqual(NETWORK)
  expect(shownProfile(config({ volumes }))).toEqual({
    ...NETWORK,
    read: ['/notes:/notes'],
    write: ['/out:/out'],
  })
  expect(shownProfile(config({ remote_url: 'https://example.com/mcp' }))).toBeNull()
})

test('what was shown and is sent back does not become a part of the profile', () => {
  const before = config({ volumes, permission_profile: { read: ['/etc'] } })
  const shown = { permission_profile: shownProfile(before) ?? {} }

  expect(withoutShown({ ...shown, volumes }, before)).toEqual({ volumes })
  expect(withoutShown({ ...shown, volumes: [] }, before)).toEqual({ volumes: [] })
  const changed = { permission_profile: { ...shown.permission_profile, network: {} }, volumes: [] }
  expect(withoutShown(changed, before)).toEqual({
    volumes: [],
    permission_profile: { read: ['/etc'], network: {} },
  })
  expect(withoutShown({ ...shown, volumes }, undefined)).toEqual({
    volumes,
    permission_profile: { read: ['/etc'] },
  })
})
