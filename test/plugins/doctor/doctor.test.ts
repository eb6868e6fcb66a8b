import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { keelsonUser } from '../../support/keelson.ts'

test('doctor says what works, and what to do about a workload that does not', {
  timeout: 120_000,
}, async () => {
  const user = await keelsonUser()
  const well = await user.run(['doctor'])
  expect(well.stderr).toBe('')
  expect(well.stdout).toMatch(/^ok {7}program: keelson .* on Node\.js /m)
  expect(well.stdout).toMatch(/^ok {7}supervisor: not running/m)
  expect(well.stdout).toMatch(/^ok {7}workloads: 0 of 0 are running/m)
  expect(well.stdout).toContain('process: ')

  const file = join(user.home, '.local/state/keelson/runconfigs/broken.json')
  await writeFileAtomic(file, '{')
  const ill = await user.run(['doctor', '--format', 'json'])
  expect(ill.code).toBe(1)
  expect(JSON.parse(ill.stdout)).toContainEqual({
    what: 'broken',
    state: 'failed',
    text: expect.stringContaining(`${file} is not valid`),
    hint: expect.stringContaining('keelson logs broken'),
  })
})
