import { expect, test } from 'vitest'
import { parseRunConfig } from '../../../src/contracts/run-config.ts'

const minimal = { schema_version: 'v0.1.0', name: 'w', image: 'x', transport: 'stdio', port: 8080 }
const parse = (change: object) => parseRunConfig(JSON.stringify({ ...minimal, ...change }), 'w.json')

test('members that nobody here knows survive', () => {
  expect(parse({ audit_config: { enabled: true }, next: [1] })).toMatchObject({
    audit_config: { enabled: true },
    next: [1],
  })
})

test('an absent version and an empty proxy mode are filled in', () => {
  const config = parse({ schema_version: '', proxy_mode: '' })
  expect(config.schema_version).toBe('v0.1.0')
  expect('proxy_mode' in config).toBe(false)
})

test.each([
  [{ port: 'x' }, 'port'],
  [{ port: 70_000 }, 'port'],
  [{ transport: 'smoke-signals' }, 'transport'],
  [{ env_vars: { A: 1 } }, 'env_vars'],
  [{ cmd_args: 'x' }, 'cmd_args'],
  [{ permission_profile: { network: { outbound: { allow_port: ['x'] } } } }, 'allow_port'],
  [{ image: undefined }, 'neither an image nor a remote_url'],
  [{ schema_version: 'v9' }, 'schema_version'],
])('%j is refused, naming the member', (change, named) => {
  expect(() => parse(change)).toThrow(named)
})

test('text that is not JSON is refused with its place', () => {
  expect(() => parseRunConfig('{\n"a":\n}', 'w.json')).toThrow(/^w.json is not valid: .*line 3, column 1/)
})
