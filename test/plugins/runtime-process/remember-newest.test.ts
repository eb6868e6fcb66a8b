import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rememberNewest } from '../../../plugins/runtime-process/packages/remember-newest.ts'
import type { VersionAnswer } from '../../../src/lib/newest-version.ts'
import type { PackageReference } from '../../../src/lib/package-reference.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MINUTE = 60_000
const server: PackageReference = { scheme: 'npx', name: 'server', extras: [] }

/** A registry, a clock, and what asks one by the other, as each command makes it anew. */
async function world(answer: VersionAnswer = { kind: 'found', version: '1.0.0' }) {
  const folder = await temporaryFolder()
  const state = { answer, now: 1_000_000_000_000, asked: 0 }
  const registry = async () => {
    state.asked++
    return state.answer
  }
  const ask = (reference = server) => rememberNewest(registry, { folder, now: () => state.now })(reference)
  return { folder, state, ask }
}

test('the registry is asked once within five minutes', async () => {
  const { state, ask } = await world()
  await ask()
  state.answer = { kind: 'found', version: '2.0.0' }
  state.now += 4 * MINUTE
  expect(await ask()).toEqual({ kind: 'found', version: '1.0.0' })
  state.now += MINUTE
  expect(await ask()).toEqual({ kind: 'found', version: '2.0.0' })
  expect(state.asked).toBe(2)
})

test('each reference has a version of its own', async () => {
  const { state, ask } = await world()
  await ask()
  await ask({ ...server, wanted: 'next' })
  await ask({ ...server, scheme: 'uvx' })
  expect(state.asked).toBe(3)
})

test.each<VersionAnswer>([
  { kind: 'unknown', problem: 'no network' },
  { kind: 'absent', problem: 'no such package' },
])('an answer without a version is not kept: %j', async answer => {
  const { state, ask } = await world(answer)
  await ask()
  expect(await ask()).toEqual(answer)
  expect(state.asked).toBe(2)
})

test('a file from the future, and one that cannot be read, are replaced', async () => {
  const { folder, state, ask } = await world()
  await ask()
  state.now -= MINUTE
  await ask()
  const [file = ''] = await readdir(folder)
  await writeFile(join(folder, file), '{')
  await ask()
  expect(state.asked).toBe(3)
  await ask()
  expect(state.asked).toBe(3)
})
