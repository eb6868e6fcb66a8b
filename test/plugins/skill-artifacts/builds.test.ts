import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { blobsOf, jsonOf, skill, store } from './store.ts'

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
  test('whose list is not JSON is a failure that names it, and is not overwritten', async () => {
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
