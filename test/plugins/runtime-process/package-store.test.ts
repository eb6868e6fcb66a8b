import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  folderName,
  parseImage,
  toImage,
} from '../../../plugins/runtime-process/packages/installed-package.ts'
import { createPackageStore } from '../../../plugins/runtime-process/packages/package-store.ts'
import type { PackageTools } from '../../../plugins/runtime-process/packages/package-tools.ts'
import type { PackageRequest } from '../../../src/contracts/runtime.ts'
import { isFailure } from '../../../src/errors.ts'
import type { VersionAnswer } from '../../../src/lib/newest-version.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const request = (name: string, given: Partial<PackageRequest> = {}): PackageRequest => ({
  scheme: 'npx',
  package: name,
  local: false,
  buildWith: [],
  ...given,
})

/** Tools that install a file and count how often they are asked. */
function fakeTools(answer: VersionAnswer = { kind: 'found', version: '1.2.3' }) {
  const seen = { asked: 0, installed: [] as string[] }
  const state = { answer, fail: false }
  const install: PackageTools['installers']['npx'] = async (pinned, folder) => {
    seen.installed.push(`${pinned.name}@${pinned.version}`)
    await writeFile(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 })
    if (state.fail) throw new Error('the registry went away')
    return { command: ['program'], needs: [] }
  }
  const tools: PackageTools = {
    newestVersion: async () => {
      seen.asked++
      return state.answer
    },
    installers: { npx: install, uvx: install, go: install },
    buildLocalGo: async () => undefined,
  }
  return { tools, seen, state }
}

test('an unpinned package is pinned to what the registry says', async () => {
  const { tools } = fakeTools()
  const store = createPackageStore(await temporaryFolder(), tools)
  const { image, version } = await store.install(request('@scope/name'))
  expect({ image, version }).toEqual({ image: 'npx://@scope/name@1.2.3', version: '1.2.3' })
  const found = await store.resolve(image)
  expect(found.command).toEqual([join(found.folder, 'program')])
})

test('the second time nothing is installed, and an exact version asks nobody', async () => {
  const { tools, seen } = fakeTools()
  const store = createPackageStore(await temporaryFolder(), tools)
  await store.install(request('name@2.0.0'))
  await store.install(request('name@2.0.0'))
  expect(seen).toEqual({ asked: 0, installed: ['name@2.0.0'] })
})

test('two installers at once install once', async () => {
  const { tools, seen } = fakeTools()
  const folder = await temporaryFolder()
  await Promise.all([1, 2, 3].map(() => createPackageStore(folder, tools).install(request('name@1.0.0'))))
  expect(seen.installed).toEqual(['name@1.0.0'])
})

test('a failed installation leaves nothing that counts as installed', async () => {
  const { tools, state } = fakeTools()
  const folder = await temporaryFolder()
  const store = createPackageStore(folder, tools)
  state.fail = true
  await expect(store.install(request('name@1.0.0'))).rejects.toThrow('went away')
  expect(await readdir(join(folder, 'npx'))).toEqual([])
  state.fail = false
  await store.install(request('name@1.0.0'))
})

test('what a killed installer left is removed and never counts as installed', async () => {
  const { tools, seen } = fakeTools()
  const folder = await temporaryFolder()
  const place = folderName('npx://name@1.0.0')
  await mkdir(join(folder, 'npx', `${place}.dead.tmp`), { recursive: true })
  await mkdir(join(folder, 'npx', place)) // empty: not even a record
  await rm(join(folder, 'npx', place), { recursive: true })
  await createPackageStore(folder, tools).install(request('name@1.0.0'))
  expect(seen.installed).toHaveLength(1)
  expect(await readdir(join(folder, 'npx'))).toEqual([place])
})

test('when the registry does not respond, the newest installed version runs, with a warning', async () => {
  const { tools, state } = fakeTools()
  const store = createPackageStore(await temporaryFolder(), tools)
  await store.install(request('name'))
  state.answer = { kind: 'unknown', problem: 'no network' }
  const said: string[] = []
  const { image } = await store.install(request('name'), { report: line => said.push(line) })
  expect(image).toBe('npx://name@1.2.3')
  expect(said).toContainEqual(expect.stringMatching(/^warning: .*no network/))
})

test.each<[VersionAnswer['kind'], string]>([
  ['absent', 'process_package_absent'],
  ['unknown', 'process_package_unresolved'],
])('a version that is %s fails with %s', async (kind, code) => {
  const { tools } = fakeTools({ kind, problem: 'no such thing', version: '' } as VersionAnswer)
  const store = createPackageStore(await temporaryFolder(), tools)
  await expect(store.install(request('name'))).rejects.toSatisfy(error => isFailure(error, code))
})

test.each(['--registry=http://x', 'name; rm -rf /', '../etc', 'name@$(x)', '@/x', ''])(
  'the package name "%s" is refused',
  async name => {
    const store = createPackageStore(await temporaryFolder(), fakeTools().tools)
    await expect(store.install(request(name))).rejects.toSatisfy(error =>
      isFailure(error, 'process_package_invalid'),
    )
  },
)

test('--build-with is for uvx only, and takes requirements only', async () => {
  const store = createPackageStore(await temporaryFolder(), fakeTools().tools)
  const refused = (given: Partial<PackageRequest>) =>
    expect(store.install(request('name@1', given))).rejects.toThrow(/--build-with/)
  await refused({ buildWith: ['mcp<2'] })
  await refused({ scheme: 'uvx', buildWith: ['--index-url=http://x'] })
  await refused({ scheme: 'uvx', buildWith: ['x @ http://evil'] })
  await store.install(request('name@1', { scheme: 'uvx', buildWith: ['mcp<2,>=1.0'] }))
})

test('a pinned package comes back when the cache was emptied', async () => {
  const { tools, seen } = fakeTools()
  const folder = await temporaryFolder()
  const store = createPackageStore(folder, tools)
  const { image } = await store.install(
    request('name', { scheme: 'uvx', buildWith: ['mcp<2', 'a+b==1'.slice(0, 1)] }),
  )
  await rm(folder, { recursive: true })
  await store.resolve(image)
  expect(seen.installed).toEqual(['name@1.2.3', 'name@1.2.3'])
})

test('an image reference can be read back', () => {
  const pinned = {
    scheme: 'uvx',
    name: 'name',
    extras: ['cli', 'ws'],
    version: '1.0+local',
    buildWith: ['mcp<2', 'x>=1.0+a'],
    local: false,
  } as const
  expect(parseImage(toImage(pinned))).toEqual(pinned)
  const local = {
    scheme: 'go',
    name: '/a path/x@y',
    extras: [],
    version: 'ab12',
    buildWith: [],
    local: true,
  } as const
  expect(parseImage(toImage(local))).toEqual(local)
  for (const other of ['busybox:1', 'npx://name', 'http://x', '']) expect(parseImage(other)).toBeUndefined()
})

test('a Go folder that is not there is named', async () => {
  const store = createPackageStore(await temporaryFolder(), fakeTools().tools)
  const missing = request('/there/is/no/such/folder', { scheme: 'go', local: true })
  await expect(store.install(missing)).rejects.toThrow('/there/is/no/such/folder')
})
