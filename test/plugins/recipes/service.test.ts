import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Reach } from '../../../plugins/recipes/build-network.ts'
import { createRecipes } from '../../../plugins/recipes/service.ts'
import type { PackageRequest } from '../../../src/contracts/runtime.ts'
import { isFailure } from '../../../src/errors.ts'
import type { VersionAnswer } from '../../../src/lib/newest-version.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { certificate } from './certificate.ts'
import { fakeImages, filesOf } from './fake-images.ts'

const request = (scheme: PackageRequest['scheme'], name: string, given: Partial<PackageRequest> = {}) => ({
  scheme,
  package: name,
  local: false,
  buildWith: [],
  ...given,
})

async function fresh(answer: VersionAnswer = { kind: 'found', version: '1.2.3' }) {
  const registry = { answer }
  const opened = { reaches: [] as Reach[], closed: 0 }
  const recipes = createRecipes({
    folder: await temporaryFolder(),
    newestVersion: async () => registry.answer,
    networks: {
      async open({ reach }) {
        opened.reaches.push(reach)
        return { network: JOINED, denied: new Set(), close: async () => void opened.closed++ }
      },
    },
  })
  return { recipes, registry, opened }
}

const JOINED = { join: 'network', proxyUrl: 'http://proxy' }

const failsWith = (code: string) => (error: unknown) => isFailure(error, code)

describe('the plan', () => {
  test('pins an npm package to the version that the registry names', async () => {
    const { recipes } = await fresh()
    const plan = await recipes.plan(request('npx', '@scope/name'))
    expect(JSON.parse(filesOf(plan).get('package.json') ?? '')).toMatchObject({
      dependencies: { '@scope/name': '1.2.3' },
    })
    expect(plan.tag).toMatch(/^keelson\.local\/npx-scope-name:[0-9a-f]{16}$/)
    expect(plan.labels).toMatchObject({
      'keelson-package': 'npx://@scope/name',
      'keelson-package-version': '1.2.3',
    })
    expect(plan.labels).not.toHaveProperty('keelson')
  })

  test('pins a PyPI package, with its extras and what it is built with', async () => {
    const { recipes } = await fresh()
    const plan = await recipes.plan(request('uvx', 'name[cli]', { buildWith: ['mcp<2'] }))
    expect(filesOf(plan).get('requirements.txt')).toBe('name[cli]==1.2.3\nmcp<2\n')
  })

  test('pins a Go package', async () => {
    const { recipes } = await fresh({ kind: 'found', version: 'v1.2.3' })
    const { dockerfile } = await recipes.plan(request('go', 'example.test/x/cmd/y'))
    expect(dockerfile).toContain('"-trimpath","example.test/x/cmd/y@v1.2.3"]')
  })

  test('starts the program directly, as a user without rights, with baked arguments as they are', async () => {
    const { recipes } = await fresh()
    const args = ["it's", '$HOME "x"', 'a\nb', '-v']
    const { dockerfile } = await recipes.plan(request('npx', 'name'), { args })
    const last = dockerfile.trimEnd().split('\n').at(-1) ?? ''
    expect(JSON.parse(last.replace('ENTRYPOINT ', ''))).toEqual(['/app/mcp-server', ...args])
    expect(dockerfile).toContain('USER 1000:1000')
    expect(dockerfile.match(/^FROM .*$/gm)?.at(-1)).toBe('FROM base')
  })

  test('is the same for the same request, and another for another', async () => {
    const { recipes, registry } = await fresh()
    const folder = await temporaryFolder()
    const ca = join(folder, 'ca.pem')
    await writeFile(ca, certificate)
    const key = async (options = {}) => (await recipes.plan(request('npx', 'name'), options)).key
    const keys = [
      await key(),
      await key({ runtimeImage: 'node:22' }),
      await key({ addPackages: ['curl'] }),
      await key({ args: ['-v'] }),
      await key({ caCert: ca }),
    ]
    registry.answer = { kind: 'found', version: '1.2.4' }
    keys.push(await key())
    expect(new Set(keys).size).toBe(keys.length)
    registry.answer = { kind: 'found', version: '1.2.3' }
    expect([await key(), await key({ addPackages: ['curl'] })]).toEqual([keys[0], keys[2]])
  })

  test('trusts given certificates before any step that uses the network, and takes nothing else of the file', async () => {
    const { recipes } = await fresh()
    const ca = join(await temporaryFolder(), 'ca.pem')
    await writeFile(ca, `-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n${certificate}`)
    const plan = await recipes.plan(request('uvx', 'name'), { caCert: ca, addPackages: ['curl'] })
    const files = filesOf(plan)
    expect(files.get('ca-cert.crt')).toContain('BEGIN CERTIFICATE')
    expect(files.get('ca-cert.crt')).not.toContain('secret')
    const stages = plan.dockerfile.split(/^FROM (?=python)/m).slice(1)
    expect(stages).toHaveLength(2)
    for (const stage of stages) {
      const [, user, copy, trust] = stage.split('\n')
      expect([user, copy, trust]).toEqual([
        'USER 0',
        expect.stringMatching(/^COPY ca-cert\.crt /),
        expect.stringMatching(/^RUN .*>>\/etc\/ssl\/certs/),
      ])
    }
  })

  test('of an exact version asks nobody', async () => {
    const { recipes } = await fresh({ kind: 'unknown', problem: 'no network' })
    expect((await recipes.plan(request('npx', 'name@3.0.0'))).version).toBe('3.0.0')
  })

  test('of a package that the registry does not have fails', async () => {
    const { recipes } = await fresh({ kind: 'absent', problem: 'no such package' })
    await expect(recipes.plan(request('npx', 'name'))).rejects.toSatisfy(failsWith('recipe_package_absent'))
  })
})

describe('what is refused', () => {
  test.each<[PackageRequest['scheme'], string]>([
    ['npx', 'name; RUN evil'],
    ['npx', 'name\nRUN evil'],
    ['npx', '--registry=http://x'],
    ['npx', 'git+https://example.test/x'],
    ['npx', 'name@1 || 2'],
    ['uvx', 'name @ http://example.test/x'],
    ['uvx', 'name==1 --index-url=x'],
    ['go', 'example.test/x$(id)'],
    ['go', 'example.test/../x'],
    ['go', '-flag/x'],
  ])('%s://%s', async (scheme, name) => {
    const { recipes } = await fresh()
    await expect(recipes.plan(request(scheme, name))).rejects.toSatisfy(failsWith('recipe_package_invalid'))
  })

  test.each([
    ['--runtime-image', { runtimeImage: 'node:24\nRUN evil' }],
    ['--runtime-image', { runtimeImage: 'node AS x' }],
    ['--runtime-add-package', { addPackages: ['curl', 'a;b'] }],
    ['--runtime-add-package', { addPackages: ['--allow-untrusted'] }],
    ['--tag', { tag: 'UPPER case' }],
  ])('a value of %s that is none', async (flag, options) => {
    const { recipes } = await fresh()
    await expect(recipes.plan(request('npx', 'name'), options)).rejects.toThrow(flag)
  })

  test.each([
    ['is missing', undefined, 'does not exist'],
    ['holds no certificate', 'hello', 'holds no certificate'],
    ['holds a broken one', certificate.replace(/\nMII/, '\nAAA'), 'broken certificate'],
  ])('a --ca-cert file that %s', async (_, content, text) => {
    const { recipes } = await fresh()
    const caCert = join(await temporaryFolder(), 'ca.pem')
    if (content !== undefined) await writeFile(caCert, content)
    await expect(recipes.plan(request('npx', 'name'), { caCert })).rejects.toThrow(text)
  })

  test('network for the code of a Go module, of which none runs in a build', async () => {
    const { recipes } = await fresh()
    await expect(recipes.plan(request('go', 'example.test/x'), { allowNetwork: true })).rejects.toThrow(
      '--allow-build-network',
    )
  })

  test.each(['https://a.example', 'a.example:443', 'a b', 'a"b', '*', '10.0.0.0/8'])(
    '%s as a host',
    async host => {
      const { recipes } = await fresh()
      await expect(recipes.plan(request('npx', 'name'), { allowHosts: [host] })).rejects.toThrow(
        '--allow-build-host',
      )
    },
  )

  test('a runtime without images', async () => {
    const { recipes } = await fresh()
    const building = recipes.build(request('npx', 'name'), { runtime: { name: 'process' } })
    await expect(building).rejects.toSatisfy(failsWith('recipe_no_images'))
  })
})

describe('building', () => {
  test('the second time does nothing', async () => {
    const { recipes } = await fresh()
    const fake = fakeImages()
    const { runtime } = fake
    const first = await recipes.build(request('npx', 'name'), { runtime })
    expect(await recipes.build(request('npx', 'name'), { runtime })).toEqual(first)
    expect(first.version).toBe('1.2.3')
    expect(fake.made).toHaveLength(1)
    for (const { files, dockerfile } of fake.builds) expect(files.Dockerfile).toBe(dockerfile)
  })

  test('twice at once builds once', async () => {
    const { recipes } = await fresh()
    const fake = fakeImages()
    const { runtime } = fake
    await Promise.all([1, 2, 3].map(() => recipes.build(request('npx', 'name'), { runtime })))
    expect(fake.made).toHaveLength(1)
  })

  test('under a name of the user’s, an image with other content is built anew', async () => {
    const { recipes } = await fresh()
    const fake = fakeImages()
    const { runtime } = fake
    const options = { runtime, tag: 'mine:1' }
    await recipes.build(request('npx', 'name'), options)
    await recipes.build(request('npx', 'name'), options)
    expect((await recipes.build(request('npx', 'other'), options)).image).toBe('mine:1')
    expect(fake.made.map(build => build.tag)).toEqual(['mine:1', 'mine:1'])
  })

  test('without a response of the registry, the version is read from the build', async () => {
    const { recipes } = await fresh({ kind: 'unknown', problem: 'npm is not there' })
    const { runtime } = fakeImages({ lines: ['Step 5', '#12 0.3 keelson-version=4.5.6'] })
    expect((await recipes.build(request('npx', 'name'), { runtime })).version).toBe('4.5.6')
  })

  test('without a response of the registry, the image built before is used, with a warning', async () => {
    const { recipes, registry } = await fresh()
    const fake = fakeImages()
    const { runtime } = fake
    const first = await recipes.build(request('npx', 'name'), { runtime })
    registry.answer = { kind: 'unknown', problem: 'no network' }
    const said: string[] = []
    const wait = { report: (line: string) => said.push(line) }
    expect(await recipes.build(request('npx', 'name'), { runtime }, wait)).toEqual(first)
    expect(said).toContainEqual(expect.stringMatching(/^warning: .*no network/))
    expect(fake.made).toHaveLength(1)
  })

  test('gives code of the package neither network nor logins, and keeps nothing but the image', async () => {
    for (const scheme of ['npx', 'uvx', 'go'] as const) {
      const { recipes } = await fresh({ kind: 'found', version: 'v1.2.3' })
      const fake = fakeImages()
      const { image } = await recipes.build(
        request(scheme, 'example.test/name'.slice(scheme === 'go' ? 0 : 13)),
        fake,
      )
      const [fetched, base, last] = fake.builds
      expect(fake.builds.map(({ network }) => network)).toEqual([undefined, undefined, 'none'])
      expect(last?.dockerfile).toContain(`FROM ${fetched?.tag} AS builder\n`)
      expect(last?.dockerfile).toContain(`FROM ${base?.tag}\n`)
      expect(fake.tags()).toEqual([image])
    }
  })

  test('with network for the package’s code makes another image, which is found without asking for it', async () => {
    const { recipes, opened } = await fresh()
    const fake = fakeImages()
    const allowed = await recipes.build(request('npx', 'name'), { ...fake, allowNetwork: true })
    expect(fake.builds.map(({ network }) => network)).toEqual([undefined, undefined, JOINED])
    expect(opened).toEqual({ reaches: [{ registries: expect.anything(), hosts: [] }], closed: 1 })
    expect(await recipes.isBuilt(allowed.image, request('npx', 'name@1.2.3'), fake)).toBe(true)
    expect((await recipes.build(request('npx', 'name'), fake)).image).not.toBe(allowed.image)
  })

  test('with other hosts in reach makes another image, and closes the network when the build fails', async () => {
    const { recipes, opened } = await fresh()
    const fake = fakeImages()
    const one = await recipes.build(request('npx', 'name'), { ...fake, allowNetwork: true })
    const other = await recipes.build(request('npx', 'name'), { ...fake, allowHosts: ['.b.example', 'a'] })
    expect(other.image).not.toBe(one.image)
    expect(opened.reaches.at(-1)?.hosts).toEqual(['.b.example', 'a'])
    const failing = fakeImages({ fail: 'broken', failsAt: 2 })
    await expect(recipes.build(request('npx', 'b'), { ...failing, allowNetwork: true })).rejects.toThrow(
      'broken',
    )
    expect(opened.closed).toBe(3)
  })

  test('says whose code runs, once, and takes no version from what that prints', async () => {
    const { recipes } = await fresh({ kind: 'unknown', problem: 'npm is not there' })
    const { runtime } = fakeImages({
      lines: [
        'keelson-version=1.0.0',
        '#7 0.1 keelson-scripts=@a/b@1.0.0 c@2.0.0 \u001b[31m',
        'keelson-version=9.9.9',
        'keelson-scripts=d@1',
      ],
    })
    const said: string[] = []
    const built = await recipes.build(
      request('npx', 'name'),
      { runtime },
      { report: line => said.push(line) },
    )
    expect(built.version).toBe('1.0.0')
    expect(said.filter(line => line.includes('scripts of'))).toEqual([
      expect.stringMatching(/^Running install scripts of @a\/b@1\.0\.0, c@2\.0\.0 \(/),
    ])
  })

  test('that fails leaves no build context behind', async () => {
    const { recipes } = await fresh()
    const { runtime, builds } = fakeImages({ fail: 'step 3 went wrong' })
    await expect(recipes.build(request('npx', 'name'), { runtime })).rejects.toThrow('step 3 went wrong')
    const left = (await readdir(tmpdir())).map(name => join(tmpdir(), name))
    expect(left).not.toContain(builds[0]?.context)
  })
})

describe('local Go code', () => {
  async function module(): Promise<string> {
    const root = join(await temporaryFolder(), 'my server')
    await mkdir(join(root, 'cmd/x'), { recursive: true })
    await mkdir(join(root, '.git'))
    await mkdir(join(root, 'bin'))
    await writeFile(join(root, 'go.mod'), 'module example.test/x\n')
    await writeFile(join(root, 'cmd/x/main.go'), 'package main\n')
    await writeFile(join(root, '.git/config'), 'private')
    await writeFile(join(root, 'bin/old'), 'junk')
    await writeFile(join(root, '.dockerignore'), '# junk\nbin\n')
    await symlink('cmd', join(root, 'link'))
    return root
  }
  const local = (path: string) => request('go', path, { local: true })

  test('is built from a copy of its module; nothing is written beside it', async () => {
    const root = await module()
    const before = await readdir(root, { recursive: true })
    const { recipes } = await fresh()
    const fake = fakeImages()
    const { image } = await recipes.build(local(join(root, 'cmd/x')), fake)
    expect(image).toMatch(/^keelson\.local\/go-x:/)
    expect(fake.made[0]?.dockerfile).toContain('"./cmd/x"]')
    expect(Object.keys(fake.made[0]?.files ?? {}).sort()).toEqual([
      'Dockerfile',
      'source/.dockerignore',
      'source/cmd/x/main.go',
      'source/go.mod',
    ])
    expect(await readdir(root, { recursive: true })).toEqual(before)
  })

  test('is built again only when it has changed', async () => {
    const root = await module()
    const { recipes } = await fresh()
    const fake = fakeImages()
    const { runtime } = fake
    const first = await recipes.build(local(join(root, 'cmd/x')), { runtime })
    await writeFile(join(root, '.git/config'), 'changed')
    expect(await recipes.build(local(join(root, 'cmd/x')), { runtime })).toEqual(first)
    await writeFile(join(root, 'cmd/x/main.go'), 'package main // changed\n')
    expect(await recipes.build(local(join(root, 'cmd/x')), { runtime })).not.toEqual(first)
    expect(fake.made).toHaveLength(2)
  })

  test('with a Dockerfile of its own is built by that, and takes no options that it could not heed', async () => {
    const root = await module()
    await writeFile(join(root, 'Dockerfile'), 'FROM scratch\n')
    const { recipes } = await fresh()
    const { runtime, builds } = fakeImages()
    await recipes.build(local(root), { runtime })
    expect(builds[0]?.dockerfile).toBe('FROM scratch\n')
    expect(builds[0]?.files).toHaveProperty('go.mod')
    await expect(recipes.build(local(root), { runtime, runtimeImage: 'golang:1' })).rejects.toSatisfy(
      failsWith('recipe_option_useless'),
    )
  })

  test('without a go.mod, or not there at all, is refused by name', async () => {
    const { recipes } = await fresh()
    const folder = await temporaryFolder()
    await expect(recipes.plan(local(folder))).rejects.toSatisfy(failsWith('recipe_no_module'))
    await expect(recipes.plan(local(join(folder, 'nothing')))).rejects.toThrow(join(folder, 'nothing'))
    expect((await stat(folder)).isDirectory()).toBe(true)
  })
})

test('an image built with certificates is found by its exported run config, which holds none', async () => {
  const { recipes } = await fresh({ kind: 'unknown', problem: 'no network' })
  const { runtime } = fakeImages({ lines: ['keelson-version=1.2.3'] })
  const caCert = join(await temporaryFolder(), 'ca.pem')
  await writeFile(caCert, certificate)
  const { image } = await recipes.build(request('npx', 'name'), { runtime, caCert })
  const exported = request('npx', 'name@1.2.3')

  expect(await recipes.isBuilt(image, exported, { runtime })).toBe(true)
  expect(await recipes.isBuilt(image, request('npx', 'name@1.2.4'), { runtime })).toBe(false)
  expect(await recipes.isBuilt(image, exported, { runtime, runtimeImage: 'node:22' })).toBe(false)
  expect(await recipes.isBuilt('another/image', exported, { runtime })).toBe(false)
  await runtime.images.remove(image)
  expect(await recipes.isBuilt(image, exported, { runtime })).toBe(false)
})

test('so is one that another user of the engine had built', async () => {
  const { runtime } = fakeImages()
  const caCert = join(await temporaryFolder(), 'ca.pem')
  await writeFile(caCert, certificate)
  const asked = request('npx', 'name@1.2.3')
  await (await fresh()).recipes.build(asked, { runtime, caCert })
  const { recipes } = await fresh()
  const { image } = await recipes.build(asked, { runtime, caCert })
  expect(await recipes.isBuilt(image, asked, { runtime })).toBe(true)
})
