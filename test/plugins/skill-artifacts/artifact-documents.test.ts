import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { chmod, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { list as listTar } from 'tar'
import { describe, expect, test } from 'vitest'
import { contentDigest } from '../../../plugins/skill-artifacts/format/content-digest.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bytesOf, fixture, jsonOf, skill, store } from './store.ts'

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
      'sha256:e370bc32a5121514cf7428b3fe4bd30aa92a8d331e474db81b1be5b8ee664513',
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
