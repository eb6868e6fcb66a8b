import { execFileSync } from 'node:child_process'
import { cp, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contentDigest } from '../../../plugins/skill-artifacts/format/content-digest.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { blobsOf, skill, store } from './store.ts'

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
    ['ghcr.io/me/Demo:1', /not a reference/],
    [`ghcr.io/me/demo@sha256:${'a'.repeat(64)}`, /digest/],
    ['git://github.com/a/b', /not a reference/],
    ['../../etc', /not a reference|registry/],
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
      /not a folder/,
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

test('building does not change the folder', async () => {
  const folder = await skill({ '.hidden': 'x' })
  const copy = join(await temporaryFolder(), 'demo')
  await cp(folder, copy, { recursive: true })
  await (await store()).build(folder)

  expect(await contentDigest(folder)).toBe(await contentDigest(copy))
})
