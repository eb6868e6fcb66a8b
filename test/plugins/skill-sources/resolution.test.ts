import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SkillEntry } from '../../../plugins/registry/index.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'
import { gitRepository } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { pushArtifact } from './skill-artifact.ts'
import { localBuilds, SKILL, skillFile, skillSources } from './skill-sources.ts'

let registry: DockerRegistry
const oci = ociClient()

beforeAll(async () => {
  registry = await startDockerRegistry()
})
afterAll(() => registry.stop())

const newRepository = (name = 'a-skill') => `${registry.host}/${randomBytes(4).toString('hex')}/${name}`

const entry = (facts: Partial<SkillEntry>): SkillEntry => ({
  namespace: 'com.example',
  name: 'a-skill',
  description: 'x',
  version: '1.0.0',
  ...facts,
})

/** A repository with two commits; the newer one is another skill. */
async function repository() {
  const root = await temporaryFolder()
  const made = await gitRepository(root)
  const first = await made.commit({ 'skills/a-skill/SKILL.md': SKILL })
  await made.point('refs/tags/v1', first)
  const second = await made.commit({ 'skills/a-skill/SKILL.md': skillFile('a-skill', 'Newer.') })
  const { host } = await gitServer(root)
  const url = `http://${host}/acme/skills`
  return { first, second, host, url, address: `git://${host}/acme/skills`, subfolder: 'skills/a-skill' }
}

test("a name is looked up in the registry, and its entry's artifact fetched", async () => {
  const name = newRepository()
  const digest = await pushArtifact(oci, `${name}:1.0.0`, { 'SKILL.md': SKILL })
  const entries = [entry({ packages: [{ registryType: 'oci', identifier: `${name}:1.0.0` }] })]
  const sources = await skillSources({ entries })
  expect(await sources.get('a-skill')).toMatchObject({
    digest,
    reference: `${name}:1.0.0`,
    resolvedReference: `${name}@${digest}`,
  })
})

test('the digest of an entry pins its artifact, wherever the tag points now', async () => {
  const name = newRepository()
  const digest = await pushArtifact(oci, `${name}:1.0.0`, { 'SKILL.md': SKILL })
  await pushArtifact(oci, `${name}:1.0.0`, { 'SKILL.md': skillFile('a-skill', 'Newer.') })
  const entries = [entry({ packages: [{ registryType: 'oci', identifier: `${name}:1.0.0`, digest }] })]
  expect((await (await skillSources({ entries })).get('a-skill')).digest).toBe(digest)
})

test('another version of an entry is another tag of its artifact', async () => {
  const name = newRepository()
  const digest = await pushArtifact(oci, `${name}:2.0.0`, { 'SKILL.md': SKILL })
  const identifier = `${name}:1.0.0`
  const entries = [
    entry({ packages: [{ registryType: 'oci', identifier, digest: `sha256:${'0'.repeat(64)}` }] }),
  ]
  expect((await (await skillSources({ entries })).get('a-skill', { version: '2.0.0' })).digest).toBe(digest)
})

test.each([['commit'], ['ref'], ['neither']])('a git package is fetched as its %s says', async what => {
  const { first, second, host, url, subfolder } = await repository()
  const pin =
    what === 'commit' ? { commit: first, ref: 'main' } : what === 'ref' ? { ref: 'refs/tags/v1' } : {}
  const entries = [entry({ packages: [{ registryType: 'git', url, subfolder, ...pin }] })]
  const sources = await skillSources({ entries, hosts: [host] })
  const wanted = what === 'neither' ? second : first
  expect(await sources.get('a-skill')).toMatchObject({
    digest: wanted,
    resolvedReference: `git://${host}/acme/skills@${wanted}#skills/a-skill`,
  })
})

test('an artifact is chosen before a repository', async () => {
  const { host, url, subfolder } = await repository()
  const name = newRepository()
  const digest = await pushArtifact(oci, `${name}:1`, { 'SKILL.md': SKILL })
  const packages = [
    { registryType: 'git', url, subfolder },
    { registryType: 'oci', identifier: `${name}:1` },
  ]
  const sources = await skillSources({ entries: [entry({ packages })], hosts: [host] })
  expect((await sources.get('a-skill')).digest).toBe(digest)
})

test('another version of an entry that has only a repository is not there', async () => {
  const { host, url, subfolder } = await repository()
  const sources = await skillSources({
    entries: [entry({ packages: [{ registryType: 'git', url, subfolder }] })],
    hosts: [host],
  })
  await expect(sources.get('a-skill', { version: '2.0.0' })).rejects.toMatchObject({
    code: 'skill_version_missing',
    status: 404,
    message: expect.stringContaining('only 1.0.0'),
  })
  expect((await sources.get('a-skill', { version: '1.0.0' })).manifest.name).toBe('a-skill')
})

test.each([[undefined], [[]], [[{ registryType: 'npm', identifier: 'x' }]], [[{ registryType: 'git' }]]])(
  'an entry with the packages %j names nothing to fetch',
  async packages => {
    const sources = await skillSources({ entries: [entry(packages ? { packages } : {})] })
    await expect(sources.get('a-skill')).rejects.toMatchObject({ code: 'skill_package_missing', status: 422 })
  },
)

test("an entry cannot lead out of its repository's folder, or to hosts that a user could not name", async () => {
  const { host, url } = await repository()
  const bad = [
    { registryType: 'git', url, subfolder: '../..' },
    { registryType: 'git', url: 'ext::sh -c id' },
    { registryType: 'git', url, ref: '--upload-pack=x' },
    { registryType: 'git', url: 'http://127.0.0.1:1/a/b' },
  ]
  for (const one of bad) {
    const sources = await skillSources({ entries: [entry({ packages: [one] })], hosts: [host] })
    await expect(sources.get('a-skill')).rejects.toMatchObject({ status: 400 })
  }
})

test('namespace/name is first an artifact, then a name in the registry, in any case of letters', async () => {
  const { host, url, subfolder, second } = await repository()
  const entries = [
    entry({ namespace: 'Nowhere.Invalid', packages: [{ registryType: 'git', url, subfolder }] }),
  ]
  const sources = await skillSources({ entries, hosts: [host] })
  expect((await sources.get('nowhere.invalid/a-skill')).digest).toBe(second)
  const [, port] = host.split(':')
  const taken = `${registry.host}/a-skill`
  const digest = await pushArtifact(oci, `${taken}:latest`, { 'SKILL.md': SKILL })
  expect(port).toBeDefined()
  expect((await sources.get(taken)).digest).toBe(digest)
})

test("what neither is fails as the artifact's registry did", async () => {
  const sources = await skillSources()
  await expect(sources.get('nowhere.invalid/a-skill')).rejects.toMatchObject({ code: 'skill_source_failed' })
  await expect(sources.get('Nowhere/a-skill')).rejects.toMatchObject({ code: 'skill_not_found' })
})

test('a local build wins over the registry', async () => {
  const builds = await localBuilds({ file: SKILL })
  const sources = await skillSources({ builds, entries: [entry({})] })
  const skill = await sources.get('a-skill')
  const [build] = await builds.list()
  expect(skill).toMatchObject({ manifest: { name: 'a-skill' }, reference: 'a-skill', digest: build?.digest })
  expect(skill).not.toHaveProperty('resolvedReference')
})

test('a local build is found by the name and version that it declares', async () => {
  const builds = await localBuilds(
    { file: skillFile('a-skill', 'One.', '1.0.0'), tag: 'one' },
    { file: skillFile('a-skill', 'Two.', '2.0.0'), tag: 'two' },
  )
  const sources = await skillSources({ builds })
  expect((await sources.get('a-skill', { version: '2.0.0' })).reference).toBe('two')
  await expect(sources.get('a-skill')).rejects.toMatchObject({ status: 409 })
  await expect(sources.get('a-skill', { version: '3.0.0' })).rejects.toMatchObject({
    code: 'skill_not_found',
  })
})

test('a preview takes the local build of that very tag, also when it looks like a reference', async () => {
  const tag = 'registry.invalid/acme/a-skill:1'
  const sources = await skillSources({ builds: await localBuilds({ file: SKILL, tag }) })
  expect((await sources.preview(tag)).name).toBe('a-skill')
  await expect(sources.get(tag)).rejects.toMatchObject({ status: 502 })
})

test('a preview of an artifact that is gone shows the repository that the registry has for it', async () => {
  const { host, url, subfolder } = await repository()
  const name = newRepository()
  const packages = [
    { registryType: 'oci', identifier: `${name}:1` },
    { registryType: 'git', url, subfolder },
  ]
  const sources = await skillSources({ entries: [entry({ packages })], hosts: [host] })
  expect((await sources.preview(`${name}:2`)).body).toBe('Newer.')
  await expect(sources.get(`${name}:2`)).rejects.toMatchObject({ code: 'skill_source_missing' })
})

test('a name that two entries have is ambiguous, and the failure lists their whole names', async () => {
  const entries = [entry({ namespace: 'com.one' }), entry({ namespace: 'com.two' })]
  await expect((await skillSources({ entries })).get('a-skill')).rejects.toMatchObject({
    code: 'skill_ambiguous',
    status: 409,
    message: expect.stringContaining('"com.one/a-skill", "com.two/a-skill"'),
  })
})

test('a name that is nowhere is 404, and near names are suggested', async () => {
  const builds = await localBuilds({ file: skillFile('b-skill') })
  const sources = await skillSources({
    builds,
    entries: [entry({ name: 'pdf-forms' }), entry({ name: 'other' })],
  })
  await expect(sources.get('pdf-form')).rejects.toMatchObject({
    status: 404,
    hint: 'Did you mean pdf-forms?',
  })
  await expect(sources.get('bskill')).rejects.toMatchObject({ status: 404, hint: 'Did you mean b-skill?' })
  await expect(sources.get('nothing-like-it')).rejects.toMatchObject({
    hint: expect.stringContaining('skill builds'),
  })
  expect(await sources.left()).toEqual([])
})

test('a registry that cannot be read is no "not found"', async () => {
  const broken = new Error('the registry is down')
  const sources = await skillSources({
    registry: { skills: () => Promise.reject(broken), isPublic: async () => true },
  })
  await expect(sources.get('a-skill')).rejects.toBe(broken)
  expect(await sources.left()).toEqual([])
})

test.each(['A-Skill', 'a--b', '-a', 'x'.repeat(65), 'über'])('"%s" is not a name', async name => {
  await expect((await skillSources()).get(name)).rejects.toMatchObject({
    code: 'skill_reference_invalid',
    status: 400,
  })
})
