import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
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

test.each([
  { scheme: 'npx', variable: 'npm_config_registry' },
  { scheme: 'uvx', variable: 'PIP_INDEX_URL' },
  { scheme: 'uvx', variable: 'UV_DEFAULT_INDEX' },
  { scheme: 'go', variable: 'GOPROXY' },
  { scheme: 'npx', variable: 'HTTPS_PROXY' },
] as const)(
  'another registry, set by $variable, is asked at once for $scheme',
  async ({ scheme, variable }) => {
    const { state, ask } = await world()
    await ask({ ...server, scheme })
    vi.stubEnv(variable, 'https://registry.example.com/')
    onTestFinished(() => void vi.unstubAllEnvs())
    state.answer = { kind: 'found', version: '2.0.0' }
    expect(await ask({ ...server, scheme })).toEqual({ kind: 'found', version: '2.0.0' })
    expect(await ask({ ...server, scheme })).toEqual({ kind: 'found', version: '2.0.0' })
    expect(state.asked).toBe(2)
  },
)

test('another npmrc of the user is another registry', async () => {
  const home = await temporaryFolder()
  vi.stubEnv('HOME', home)
  // npm sets it for the scripts that it runs.
  vi.stubEnv('npm_config_userconfig', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { state, ask } = await world()
  await ask()
  await writeFile(join(home, '.npmrc'), 'registry=https://registry.example.com/\n')
  await ask()
  expect(state.asked).toBe(2)
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
