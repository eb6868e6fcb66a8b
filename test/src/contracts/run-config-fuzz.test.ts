import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure } from '../../../src/errors.ts'

const minimal = { schema_version: 'v0.1.0', name: 'w', image: 'x', transport: 'stdio', port: 8080 }
const MEMBERS = [
  'schema_version',
  'name',
  'image',
  'remote_url',
  'cmd_args',
  'transport',
  'proxy_mode',
  'port',
  'target_port',
  'volumes',
  'env_vars',
  'secrets',
  'permission_profile',
  'isolate_network',
  'runtime_config',
  'resources',
  'audit_config',
  '__proto__',
  'constructor',
]

const change = fc.dictionary(fc.constantFrom(...MEMBERS), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })

test('a run config of any shape is read whole or refused with a failure', () => {
  let read = 0
  let refused = 0
  fc.assert(
    fc.property(change, members => {
      const document = JSON.parse(JSON.stringify({ ...minimal, ...members }))
      try {
        const config = parseRunConfig(JSON.stringify(document), 'w.json')
        const { proxy_mode, ...rest } = document
        expect(config).toEqual({ ...rest, ...(proxy_mode ? { proxy_mode } : {}), schema_version: 'v0.1.0' })
        read++
      } catch (error) {
        if (!isFailure(error, 'invalid_file')) throw error
        expect(error.message).toMatch(/^w\.json is not valid: ./)
        refused++
      }
    }),
    { numRuns: 3000 },
  )
  expect(read).toBeGreaterThan(100)
  expect(refused).toBeGreaterThan(100)
})

test('a run config cut off or changed anywhere is read or refused with a failure', () => {
  const text = JSON.stringify({ ...minimal, env_vars: { A: '1' }, permission_profile: { read: ['/x'] } })
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(3), fc.string({ maxLength: 3 }), (at, count, piece) => {
      const changed = text.slice(0, at) + piece + text.slice(at + count)
      try {
        expect(parseRunConfig(changed, 'w.json').schema_version).toBe('v0.1.0')
      } catch (error) {
        if (!isFailure(error, 'invalid_file')) throw error
      }
    }),
    { numRuns: 3000 },
  )
})
