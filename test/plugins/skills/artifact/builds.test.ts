import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { list as listTar } from 'tar'
import { describe, expect, test } from 'vitest'
import { type Builds, createBuilds } from '../../../../plugins/skills/artifact/builds.ts'
import { contentDigest } from '../../../../plugins/skills/format/content-digest.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const fixture = (name: string) => new URL(`../../../../fixtures/skills/${name}`, import.meta.url).pathname

/** A store of the test's own. */
async function store(
  env: Record<string, string> = {},
  folder?: string,
): Promise<Builds & { folder: string }> {
  const at = folder ?? join(await temporaryFolder(), 'builds')
  const oci = () => Promise.reject(new Error('nothing is pushed here'))
  return { ...createBuilds({ folder: at, oci, env }), folder: at }
}

const blobsOf = (folder: string): string[] => readdirSync(join(folder, 'blobs/sha256')).sort()
const bytesOf = (folder: string, digest: string): Buffer =>
  readFileSync(join(folder, 'blobs/sha256', digest.replace('sha256:', '')))
// biome-ignore lint/suspicious/noExplicitAny: tests look into documents
const jsonOf = (folder: string, digest: string): any => JSON.parse(bytesOf(folder, digest).toString())

/** A skill of its own in a temporary folder. */
async function skill(files: Record<string, string> = {}, name = 'demo'): Promise<string> {
  const folder = join(await temporaryFolder(), name)
  const all = { 'SKILL.md': `---\nname: ${name}\ndescription: d\n---\nbody\n`, ...files }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

describe('an artifact', () => {
  test('has the documents that both tools read', async () => {
    const builds = await store({ SOURCE_DATE_EPOCH: '1700000000' })
    const { digest } = await builds.build(fixture('csv-report'))
    const index = jsonOf(builds.folder, digest)
    const [amd64, arm64] = index.manifests
    const manifest = jsonOf(builds.folder, amd64.digest)
    const other = jsonOf(builds.folder, arm64.digest)
    const config = jsonOf(builds.folder, manifest.config.digest)
    const layer = bytesOf(builds.folder, manifest.layers[0].digest)
    const annotations = {
      'org.opencontainers.image.created': '2023-11-14T22:13:20Z',
      'dev.toolhive.skills.name': 'csv-report',
      'dev.toolhive.skills.description': expect.stringMatching(/^Turns a table/),
      'dev.toolhive.skills.version': '1.10',
    }

    expect(index).toEqual({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      artifactType: 'dev.toolhive.skills.v1',
      manifests: ['amd64', 'arm64'].map(architecture => ({
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        size: expect.any(Number),
        platform: { architecture, os: 'linux' },
      })),
      annotations,
    })
    expect(manifest).toEqual({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      artifactType: 'dev.toolhive.skills.v1',
      config: {
        mediaType: 'application/vnd.oci.image.config.v1+json',
        digest: expect.any(String),
        size: bytesOf(builds.folder, manifest.config.digest).length,
      },
      layers: [
        {
          mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
          digest: `sha256:${createHash('sha256').update(layer).digest('hex')}`,
          size: layer.length,
          annotations: { 'org.opencontainers.image.title': 'skill.tar.gz' },
        },
      ],
      annotations,
    })
    expect(other.layers).toEqual(manifest.layers)
    expect(other.config.digest).not.toBe(manifest.config.digest)
    expect(config).toEqual({
      created: '2023-11-14T22:13:20Z',
      architecture: 'amd64',
      os: 'linux',
      config: {
        Labels: {
          'dev.toolhive.skills.name': 'csv-report',
          'dev.toolhive.skills.description': expect.stringMatching(/^Turns a table/),
          'dev.toolhive.skills.version': '1.10',
          'dev.toolhive.skills.license': 'Apache-2.0',
          'dev.toolhive.skills.allowedTools': '["Read","Bash(python3 scripts/summarise.py *)"]',
          'dev.toolhive.skills.files':
            '["SKILL.md","assets/report.txt","references/columns.md","scripts/summarise.py"]',
        },
      },
      rootfs: {
        type: 'layers',
        diff_ids: [`sha256:${createHash('sha256').update(gunzipSync(layer)).digest('hex')}`],
      },
      history: [{ created: '2023-11-14T22:13:20Z', created_by: expect.any(String) }],
    })
  })

  test('says which skills it needs, and nothing where there is nothing', async () => {
    const builds = await store()
    const needs = jsonOf(builds.folder, (await builds.build(fixture('release-notes'))).digest)
    const plain = await builds.build(fixture('q'))
    const [platform] = jsonOf(builds.folder, plain.digest).manifests
    const { config } = jsonOf(builds.folder, platform.digest)

    expect(JSON.parse(needs.annotations['dev.toolhive.skills.requires'])).toEqual([
      'ghcr.io/example/skills/haiku-writer:1.0',
      'git://github.com/example/skills@v2.1.0#csv-report',
      'ghcr.io/example/skills/q:1',
    ])
    expect(jsonOf(builds.folder, plain.digest).annotations).not.toHaveProperty('dev.toolhive.skills.requires')
    expect(jsonOf(builds.folder, config.digest).config.Labels).toMatchObject({
      'dev.toolhive.skills.allowedTools': 'null',
      'dev.toolhive.skills.license': '',
    })
  })

  test('holds its files sorted, as nobody in particular, all of one mode and time', async () => {
    const builds = await store()
    const folder = await skill({
      'scripts/run.sh': 'x',
      'B.md': 'x',
      'a.md': 'x',
      [`${'long/'.repeat(30)}ö.md`]: 'x',
    })
    await chmod(join(folder, 'scripts/run.sh'), 0o755)
    await builds.build(folder)
    const archive = join(await temporaryFolder(), 'skill.tar.gz')
    const { digest } = (await builds.list())[0] ?? { digest: '' }
    const [platform] = jsonOf(builds.folder, digest).manifests
    await writeFile(archive, bytesOf(builds.folder, jsonOf(builds.folder, platform.digest).layers[0].digest))
    const seen: unknown[] = []
    await listTar({
      file: archive,
      strict: true,
      onReadEntry: ({ path, type, mode, uid, gid, mtime }) =>
        seen.push([path, type, mode, uid, gid, mtime?.getTime()]),
    })

    const facts = ['File', 0o644, 0, 0, 0]
    expect(seen).toEqual([
      ['B.md', ...facts],
      ['SKILL.md', ...facts],
      ['a.md', ...facts],
      [`${'long/'.repeat(30)}ö.md`, ...facts],
      ['scripts/run.sh', ...facts],
    ])
    expect(execFileSync('tar', ['-tzf', archive]).toString().split('\n')[0]).toBe('B.md')
  })

  test('has this digest, on every machine and for ever', async () => {
    const builds = await store()

    expect((await builds.build(fixture('csv-report'))).digest).toBe(
      'sha256:8ca53ce36c3824aae2eff25f0d681390e17404692e4340c3150ffd5b9be304f0',
    )
  })

  test('has the digest of its files, whatever their place, time, mode and order', async () => {
    const one = await skill({ 'a.md': 'a', 'b.md': 'b' })
    const two = await skill({ 'b.md': 'b', 'a.md': 'a', '.hidden': 'x', '.config/x': 'x' })
    await chmod(join(two, 'a.md'), 0o700)
    await utimes(join(two, 'b.md'), 1, 1)
    const digests = [await (await store()).build(one), await (await store()).build(two, 'v2')].map(
      ({ digest }) => digest,
    )

    expect(digests[0]).toBe(digests[1])
  })

  test.each(['', 'yesterday', '-1', '1.5', '99999999999'])(
    'is of 1970 when SOURCE_DATE_EPOCH is "%s"',
    async epoch => {
      const builds = await store({ SOURCE_DATE_EPOCH: epoch })
      const { digest } = await builds.build(await skill())

      expect(jsonOf(builds.folder, digest).annotations['org.opencontainers.image.created']).toBe(
        '1970-01-01T00:00:00Z',
      )
    },
  )

  test.each(['csv-report', 'release-notes', 'unit-prices', 'log-reader'])(
    'of the fixture %s comes out as it went in',
    async name => {
      const builds = await store()
      const folder = join(await temporaryFolder(), name)
      await builds.build(fixture(name))
      await builds.extractTo(name, folder)

      expect(await contentDigest(folder)).toBe(await contentDigest(fixture(name)))
    },
  )

  test('leaves hidden files out', async () => {
    const builds = await store()
    const folder = join(await temporaryFolder(), 'x')
    await builds.build(fixture('dotfiles-helper'))
    await builds.extractTo('dotfiles-helper', folder)

    expect(readdirSync(folder)).toEqual(['SKILL.md'])
  })
})

describe('the tag of a build is', () => {
  test.each([
    ['the name of the skill', undefined, 'demo'],
    ['the name of the skill, for an empty one', '', 'demo'],
    ['the one given', 'v1.0_beta', 'v1.0_beta'],
    ['the reference given', 'ghcr.io/me/demo:1.0', 'ghcr.io/me/demo:1.0'],
    ['the reference with latest', 'localhost:5000/demo', 'localhost:5000/demo:latest'],
  ])('%s', async (_, tag, reference) => {
    const builds = await store()

    expect(await builds.build(await skill(), tag)).toMatchObject({ reference, warnings: [] })
    expect((await builds.list()).map(build => build.tag)).toEqual([reference])
  })

  test.each([
    ['-x', /characters/],
    ['a b', /characters/],
    ['x'.repeat(129), /too long/],
    ['me/demo:1', /registry/],
    ['demo:1', /registry/],
    ['ghcr.io/me/Demo:1', /no reference/],
    [`ghcr.io/me/demo@sha256:${'a'.repeat(64)}`, /digest/],
    ['git://github.com/a/b', /no reference/],
    ['../../etc', /no reference|registry/],
  ])('not %s', async (tag, problem) => {
    const builds = await store()

    await expect(builds.build(await skill(), tag)).rejects.toMatchObject({
      code: 'skill_tag_invalid',
      status: 400,
      message: expect.stringMatching(problem),
    })
    expect(await builds.list()).toEqual([])
  })

  test('one that cannot be installed, with a warning', async () => {
    const { warnings } = await (await store()).build(await skill(), 'ghcr.io/me/tools:1')

    expect(warnings).toEqual([
      expect.stringMatching(/called "demo", but the repository "tools".* \/demo:VERSION/),
    ])
  })
})

describe('is not built, and nothing is kept:', () => {
  test.each<[string, (folder: string) => unknown, string, RegExp]>([
    ['a folder without SKILL.md', folder => rm(join(folder, 'SKILL.md')), 'skill_missing', /no SKILL\.md/],
    [
      'a folder that is not there',
      folder => rm(folder, { recursive: true }),
      'skill_build_refused',
      /does not exist/,
    ],
    [
      'a file',
      async folder => [await rm(folder, { recursive: true }), await writeFile(folder, '')],
      'skill_build_refused',
      /no folder/,
    ],
    [
      'a link',
      folder => symlink('/etc/passwd', join(folder, 'a')),
      'skill_build_refused',
      /"a" is refused: it is a link/,
    ],
    [
      'a pipe',
      folder => execFileSync('mkfifo', [join(folder, 'a')]),
      'skill_build_refused',
      /neither a file/,
    ],
    [
      'a name that is not allowed',
      folder => writeFile(join(folder, 'SKILL.md'), '---\nname: No\n---\n'),
      'skill_build_refused',
      /line 2: the name "No"/,
    ],
    ['no frontmatter', folder => writeFile(join(folder, 'SKILL.md'), 'hi'), 'skill_build_refused', /line 1/],
    [
      'names that differ in case',
      folder => writeFile(join(folder, 'skill.md'), ''),
      'skill_build_refused',
      /same as/,
    ],
    [
      'more than 95 MiB',
      async folder => [
        await writeFile(join(folder, 'a'), ''),
        await truncate(join(folder, 'a'), 96 * 1024 * 1024),
      ],
      'skill_build_refused',
      /larger than 95 MiB/,
    ],
    [
      'a SKILL.md that is a folder',
      async folder => [await rm(join(folder, 'SKILL.md')), await mkdir(join(folder, 'SKILL.md'))],
      'skill_missing',
      /no SKILL\.md/,
    ],
  ])('%s', async (_, spoil, code, message) => {
    const builds = await store()
    const folder = await skill()
    await spoil(folder)

    await expect(builds.build(folder)).rejects.toMatchObject({
      code,
      status: 400,
      message: expect.stringMatching(message),
    })
    expect(await builds.list()).toEqual([])
    expect(blobsOf(builds.folder)).toEqual([])
  })
})

describe('builds', () => {
  test('are listed by tag, with what they say of themselves', async () => {
    const builds = await store()
    const folder = await skill({ 'SKILL.md': '---\nname: demo\ndescription: Shows.\nversion: 2\n---\n' })
    const { digest } = await builds.build(folder, 'z')
    await builds.build(await skill(), 'a')

    expect(await builds.list()).toEqual([
      { tag: 'a', digest: expect.any(String), name: 'demo', description: 'd' },
      { tag: 'z', digest, name: 'demo', description: 'Shows.', version: '2' },
    ])
  })

  test('are none where nothing was built', async () => {
    expect(await (await store()).list()).toEqual([])
  })

  test('of one tag replace each other, and leave nothing of the first', async () => {
    const builds = await store()
    const folder = await skill()
    await builds.build(folder)
    const first = blobsOf(builds.folder)
    await writeFile(join(folder, 'new.md'), 'new')
    await builds.build(folder)

    expect(await builds.list()).toHaveLength(1)
    expect(blobsOf(builds.folder).filter(blob => first.includes(blob))).toEqual([])
    expect(blobsOf(builds.folder)).toHaveLength(6)
  })

  test('that are removed leave what others share', async () => {
    const builds = await store()
    await builds.build(await skill(), 'one')
    await builds.build(await skill(), 'same')
    const dated = await store({ SOURCE_DATE_EPOCH: '5' }, builds.folder)
    await dated.build(await skill(), 'dated')

    await builds.remove('one')
    await builds.extractTo('same', join(await temporaryFolder(), 'x'))
    await builds.remove('same')
    await builds.extractTo('dated', join(await temporaryFolder(), 'x'))
    expect(blobsOf(builds.folder)).toHaveLength(6)
    await builds.remove('dated')
    expect(blobsOf(builds.folder)).toEqual([])
  })

  test('that share a layer under different digests keep it until the last is removed', async () => {
    const builds = await store()
    await builds.build(await skill(), 'mine')
    // As another tool writes it: the same files, but an index of its own.
    const [mine] = await builds.list()
    const index = jsonOf(builds.folder, mine?.digest ?? '')
    const bytes = Buffer.from(JSON.stringify({ ...index, annotations: { ...index.annotations, by: 'hand' } }))
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    await writeFile(join(builds.folder, 'blobs/sha256', digest.slice(7)), bytes)
    const path = join(builds.folder, 'index.json')
    const list = JSON.parse(readFileSync(path, 'utf8'))
    const [entry] = list.manifests
    const annotations = { ...entry.annotations, 'org.opencontainers.image.ref.name': 'other' }
    list.manifests.push({ ...entry, digest, size: bytes.length, annotations })
    await writeFile(path, JSON.stringify(list))

    await builds.remove('mine')
    await builds.extractTo('other', join(await temporaryFolder(), 'x'))
    expect(blobsOf(builds.folder)).toHaveLength(6)
  })

  test('that are not there cannot be removed, and a near one is named', async () => {
    const builds = await store()
    await builds.build(await skill())

    await expect(builds.remove('dmeo')).rejects.toMatchObject({
      code: 'skill_build_missing',
      status: 404,
      hint: 'Did you mean demo?',
    })
    expect(await builds.list()).toHaveLength(1)
  })

  test('built at the same moment are all there', async () => {
    const builds = await store()
    const folder = await skill()
    await Promise.all(Array.from({ length: 8 }, (_, i) => builds.build(folder, `tag${i}`)))

    expect((await builds.list()).map(({ tag }) => tag)).toEqual(
      Array.from({ length: 8 }, (_, i) => `tag${i}`),
    )
  })

  test('that were only fetched are not listed', async () => {
    const builds = await store()
    await builds.build(await skill())
    const path = join(builds.folder, 'index.json')
    const list = JSON.parse(readFileSync(path, 'utf8'))
    delete list.manifests[0].annotations['dev.keelson.skills.local-build']
    await writeFile(path, JSON.stringify(list))

    expect(await builds.list()).toEqual([])
  })
})

describe('a damaged store', () => {
  test('whose list is no JSON is a failure that names it, and is not overwritten', async () => {
    const builds = await store()
    await builds.build(await skill())
    const path = join(builds.folder, 'index.json')
    await writeFile(path, '{"manifests": [')

    await expect(builds.list()).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringContaining(path),
    })
    await expect(builds.build(await skill())).rejects.toMatchObject({ code: 'invalid_file' })
    expect(readFileSync(path, 'utf8')).toBe('{"manifests": [')
    expect(blobsOf(builds.folder)).toHaveLength(6)
  })

  test('with other files in the archive than were built gives none of them out', async () => {
    const builds = await store()
    const { digest } = await builds.build(await skill())
    const [platform] = jsonOf(builds.folder, digest).manifests
    const [layer] = jsonOf(builds.folder, platform.digest).layers
    await writeFile(join(builds.folder, 'blobs/sha256', layer.digest.slice(7)), 'other')
    const target = join(await temporaryFolder(), 'x')

    await expect(builds.extractTo('demo', target)).rejects.toMatchObject({ code: 'skill_store_broken' })
    expect(() => readdirSync(target)).toThrow()
  })

  test('with a build that is gone still lists it, so that it can be removed', async () => {
    const builds = await store()
    const { digest } = await builds.build(await skill())
    await rm(join(builds.folder, 'blobs/sha256', digest.slice(7)))

    expect(await builds.list()).toEqual([{ tag: 'demo', digest }])
    await builds.remove('demo')
    expect(blobsOf(builds.folder)).toEqual([])
  })
})

describe('a build is found', () => {
  async function several() {
    const builds = await store()
    const versioned = (version: string) =>
      skill({ 'SKILL.md': `---\nname: demo\ndescription: d\nversion: ${version}\n---\n` })
    await builds.build(await versioned('1.0'), 'first')
    await builds.build(await versioned('2.0'), 'ghcr.io/me/demo:2')
    await builds.build(await skill({}, 'other'), 'misnamed')
    return { builds, versioned }
  }

  test('by its tag, a reference without a tag means latest', async () => {
    const { builds } = await several()
    await builds.build(await skill(), 'ghcr.io/me/demo')

    expect((await builds.find('ghcr.io/me/demo:2'))?.tag).toBe('ghcr.io/me/demo:2')
    expect((await builds.find('ghcr.io/me/demo'))?.tag).toBe('ghcr.io/me/demo:latest')
    expect(await builds.find('ghcr.io/me/demo:3')).toBeUndefined()
  })

  test('by name and version, or by name and tag', async () => {
    const { builds } = await several()

    expect((await builds.find('demo', '1.0'))?.tag).toBe('first')
    expect((await builds.find('demo', '2.0'))?.tag).toBe('ghcr.io/me/demo:2')
    expect((await builds.find('demo', 'first'))?.tag).toBe('first')
    expect(await builds.find('demo', '3.0')).toBeUndefined()
    expect(await builds.find('nothing')).toBeUndefined()
  })

  test('by name among several when one has it as its tag', async () => {
    const { builds, versioned } = await several()
    await builds.build(await versioned('3.0'))

    expect((await builds.find('demo'))?.version).toBe('3.0')
    expect((await builds.find('demo', '1.0'))?.tag).toBe('first')
  })

  test('not by a name that several have', async () => {
    const { builds } = await several()

    await expect(builds.find('demo')).rejects.toMatchObject({
      code: 'skill_build_ambiguous',
      status: 409,
      message: expect.stringContaining('first, ghcr.io/me/demo:2'),
    })
  })

  test('not by a tag that is the name of another skill', async () => {
    const { builds } = await several()

    await expect(builds.find('misnamed')).rejects.toMatchObject({ code: 'skill_build_other', status: 422 })
  })
})

test('building does not change the folder', async () => {
  const folder = await skill({ '.hidden': 'x' })
  const copy = join(await temporaryFolder(), 'demo')
  await cp(folder, copy, { recursive: true })
  await (await store()).build(folder)

  expect(await contentDigest(folder)).toBe(await contentDigest(copy))
})
