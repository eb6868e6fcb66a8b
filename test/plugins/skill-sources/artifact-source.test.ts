import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MEDIA_TYPES } from '../../../plugins/oci/index.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { registryServer } from '../../support/registry-server.ts'
import { ociClient } from '../oci/oci-client.ts'
import { pushArtifact } from './skill-artifact.ts'
import { filesOf, SKILL, skillFile, skillSources } from './skill-sources.ts'

let registry: DockerRegistry
const oci = ociClient()

beforeAll(async () => {
  registry = await startDockerRegistry()
})
afterAll(() => registry.stop())

/** A repository name that nobody has used. */
const newReference = (tag = '1.0.0', name = 'a-skill') =>
  `${registry.host}/${randomBytes(4).toString('hex')}/${name}:${tag}`

test('an artifact is fetched by its tag, and pinned by the digest of its index', async () => {
  const reference = newReference()
  const digest = await pushArtifact(oci, reference, { 'SKILL.md': SKILL, 'ref/more.md': 'more' })
  const sources = await skillSources()
  const skill = await sources.get(reference)
  expect(skill).toMatchObject({
    manifest: { name: 'a-skill' },
    reference,
    digest,
    resolvedReference: `${reference.replace(/:1\.0\.0$/, '')}@${digest}`,
  })
  expect(skill).not.toHaveProperty('signer')
  expect(await filesOf(skill.folder)).toEqual({ 'SKILL.md': SKILL, 'ref/more.md': 'more' })
})

test('a resolved reference gets the same bytes after the tag has moved', async () => {
  const reference = newReference()
  await pushArtifact(oci, reference, { 'SKILL.md': SKILL })
  const sources = await skillSources()
  const before = await sources.get(reference)
  await pushArtifact(oci, reference, { 'SKILL.md': skillFile('a-skill', 'Do something else.') })
  const after = await sources.get(before.resolvedReference ?? '')
  expect(after.contentDigest).toBe(before.contentDigest)
  expect((await sources.get(reference)).contentDigest).not.toBe(before.contentDigest)
})

test('a reference without a tag means the version that is wanted, or latest', async () => {
  const reference = newReference('latest')
  const repository = reference.replace(/:latest$/, '')
  const latest = await pushArtifact(oci, reference, { 'SKILL.md': SKILL })
  const second = await pushArtifact(oci, `${repository}:2.0.0`, { 'SKILL.md': skillFile('a-skill', 'Two.') })
  const sources = await skillSources()
  expect(await sources.get(repository)).toMatchObject({ digest: latest, reference })
  expect(await sources.get(repository, { version: '2.0.0' })).toMatchObject({
    digest: second,
    reference: `${repository}:2.0.0`,
  })
  expect((await sources.get(reference, { version: '2.0.0' })).digest).toBe(latest)
})

test('an artifact without an index is taken, too', async () => {
  const reference = newReference()
  const digest = await pushArtifact(oci, reference, { 'SKILL.md': SKILL }, { bare: true })
  expect((await (await skillSources()).get(reference)).digest).toBe(digest)
})

test('a preview of an artifact looks like one of a repository, and leaves nothing', async () => {
  const reference = newReference()
  await pushArtifact(oci, reference, { 'b.txt': '12', 'SKILL.md': SKILL, 'a/c.txt': '' })
  const sources = await skillSources()
  expect(await sources.preview(reference)).toEqual({
    name: 'a-skill',
    description: 'How to do a-skill',
    body: 'Do it.\n',
    files: [
      { path: 'SKILL.md', size: Buffer.byteLength(SKILL) },
      { path: 'a/c.txt', size: 0 },
      { path: 'b.txt', size: 2 },
    ],
  })
  expect(await sources.left()).toEqual([])
})

test.each([
  ['whose label is not the name of its repository', { name: 'other' }, /calls itself "other"/],
  ['without a label', { name: '' }, /no label dev\.toolhive\.skills\.name/],
  ['whose configuration is no JSON object', { config: 'none' }, /no label/],
  [
    'whose layer is no tar.gz',
    { layerType: 'application/vnd.oci.image.layer.v1.tar' },
    /its first layer is of the type/,
  ],
  ['whose archive is none', { layer: Buffer.from('not gzip') }, /archive/],
])('an artifact %s is refused', async (_, facts, reason) => {
  const reference = newReference()
  await pushArtifact(oci, reference, { 'SKILL.md': SKILL }, facts)
  const sources = await skillSources()
  await expect(sources.get(reference)).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(reason),
  })
  expect(await sources.left()).toEqual([])
})

test.each([
  ['is called something else than its label', { 'SKILL.md': skillFile('other') }, /SKILL\.md "other"/],
  ['is missing', { 'README.md': 'x' }, /it has no SKILL\.md/],
  ['has no frontmatter', { 'SKILL.md': 'Do it.' }, /SKILL\.md/],
])('an artifact whose SKILL.md %s is refused', async (_, files, reason) => {
  const reference = newReference()
  await pushArtifact(oci, reference, files)
  const sources = await skillSources()
  await expect(sources.get(reference)).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(reason),
  })
  expect(await sources.left()).toEqual([])
})

test('an archive larger than 50 MiB is refused by its size in the manifest, without being fetched', async () => {
  const reference = newReference()
  await pushArtifact(oci, reference, { 'SKILL.md': SKILL }, { bare: true })
  const real = await oci.manifest(reference)
  if (real.kind !== 'manifest') throw new Error('a manifest was pushed')
  const layers = real.content.layers.map(layer => ({ ...layer, size: 50 * 1024 * 1024 + 1 }))
  const bytes = Buffer.from(JSON.stringify({ ...real.content, layers }))
  const lying = { ...oci, manifest: async () => ({ ...real, content: { ...real.content, layers }, bytes }) }
  const sources = await skillSources({ oci: lying })
  await expect(sources.get(reference)).rejects.toMatchObject({
    code: 'skill_content_refused',
    message: expect.stringContaining('larger than 50 MiB'),
  })
})

test('an index without manifests is refused', async () => {
  const reference = newReference()
  const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [] }
  await oci.pushManifest(reference, Buffer.from(JSON.stringify(index)), MEDIA_TYPES.index)
  await expect((await skillSources()).get(reference)).rejects.toMatchObject({ code: 'skill_content_refused' })
})

test('a tag that is not there is 404', async () => {
  const sources = await skillSources()
  await expect(sources.get(newReference())).rejects.toMatchObject({
    code: 'skill_source_missing',
    status: 404,
  })
  expect(await sources.left()).toEqual([])
})

test.each([
  [401, 'skill_source_denied', 401],
  [403, 'skill_source_denied', 401],
  [404, 'skill_source_missing', 404],
  [429, 'skill_source_busy', 429],
  [500, 'skill_source_failed', 502],
  [418, 'skill_source_failed', 502],
])('a registry that responds with %i fails with %s', async (status, code, ours) => {
  const server = await registryServer((_, response) => response.writeHead(status).end())
  const sources = await skillSources()
  const reference = `${server.url.slice('http://'.length)}/acme/a-skill:1`
  await expect(sources.get(reference)).rejects.toMatchObject({ code, status: ours })
})

test('a registry that is not there is 502', async () => {
  const server = await registryServer()
  await server.stop()
  const reference = `${server.url.slice('http://'.length)}/acme/a-skill:1`
  await expect((await skillSources()).get(reference)).rejects.toMatchObject({ status: 502 })
})

test('a registry that never responds is given up after the time for it', async () => {
  const server = await registryServer(() => undefined)
  const sources = await skillSources({ timeouts: { gitMs: 60_000, ociMs: 300 } })
  await expect(sources.get(`${server.url.slice('http://'.length)}/acme/a-skill:1`)).rejects.toMatchObject({
    code: 'skill_source_timeout',
    status: 504,
  })
  expect(await sources.left()).toEqual([])
})

test('a cancelled fetch ends with the reason of the signal, and leaves nothing', async () => {
  const cancel = new AbortController()
  const reason = new Error('cancelled by the test')
  const server = await registryServer(() => cancel.abort(reason))
  const sources = await skillSources()
  const reference = `${server.url.slice('http://'.length)}/acme/a-skill:1`
  await expect(sources.get(reference, { signal: cancel.signal })).rejects.toBe(reason)
  expect(await sources.left()).toEqual([])
})
