import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { referrersTag } from '../../../plugins/oci/digest.ts'
import type { ImageManifest } from '../../../plugins/oci/manifest.ts'
import { MEDIA_TYPES } from '../../../plugins/oci/media-types.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { sha256 } from './fake-registry.ts'
import { ociClient } from './oci-client.ts'

let registry: DockerRegistry
const oci = ociClient()
const ref = (name: string) => `${registry.host}/${name}`

beforeAll(async () => {
  registry = await startDockerRegistry()
})
afterAll(() => registry.stop())

async function pushArtifact(reference: string, layer: Buffer, extra: Partial<ImageManifest> = {}) {
  const config = await oci.pushBlob(reference, Buffer.from('{}'))
  const content = await oci.pushBlob(reference, layer)
  const manifest: ImageManifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.empty, ...config },
    layers: [{ mediaType: 'text/plain', ...content }],
    ...extra,
  }
  return oci.pushManifest(reference, Buffer.from(JSON.stringify(manifest)), MEDIA_TYPES.manifest)
}

test('what is pushed is pulled back byte for byte, by tag and by digest', async () => {
  const layer = Buffer.from('hello from a test')
  const pushed = await pushArtifact(ref('team/thing:1.0'), layer)

  const byTag = await oci.manifest(ref('team/thing:1.0'))
  const byDigest = await oci.manifest(ref(`team/thing@${pushed.digest}`))

  expect(byTag.descriptor.digest).toBe(pushed.digest)
  expect(byDigest.bytes).toEqual(byTag.bytes)
  expect(sha256(byTag.bytes)).toBe(pushed.digest)
  if (byTag.kind !== 'manifest') throw new Error('an image manifest was pushed')
  const [descriptor] = byTag.content.layers
  if (!descriptor) throw new Error('it has a layer')
  expect(await oci.blob(ref('team/thing'), descriptor)).toEqual(layer)
})

test('a blob of several megabytes goes up from a file and comes down into a file', async () => {
  const folder = await temporaryFolder()
  const bytes = Buffer.alloc(5_000_000, 'keelson ')
  await writeFile(join(folder, 'up'), bytes)
  const digest = sha256(bytes)

  await oci.pushBlob(ref('big'), { path: join(folder, 'up'), digest, size: bytes.length })
  const descriptor = { mediaType: 'application/octet-stream', digest, size: bytes.length }
  await oci.blobToFile(ref('big'), descriptor, join(folder, 'down'))

  expect((await readFile(join(folder, 'down'))).equals(bytes)).toBe(true)
})

test('a blob that another repository has is mounted', async () => {
  const blob = Buffer.from('shared')
  const { digest, size } = await oci.pushBlob(ref('first'), blob)

  await oci.pushBlob(ref('second'), { path: '/nonexistent/never-read', digest, size }, { from: 'first' })

  expect(await oci.blob(ref('second'), { mediaType: 'text/plain', digest, size })).toEqual(blob)
})

test('referrers are kept under the fallback tag, each once, and found by type', async () => {
  const image = await pushArtifact(ref('signed:1'), Buffer.from('image'))
  const subject = { mediaType: image.mediaType, digest: image.digest, size: image.size }
  const at = (digest: string) => ref(`signed@${digest}`)
  const attach = async (artifactType: string, text: string) => {
    const layer = Buffer.from(text)
    await oci.pushBlob(ref('signed'), Buffer.from('{}'))
    const blob = await oci.pushBlob(ref('signed'), layer)
    const manifest: ImageManifest = {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      artifactType,
      config: { mediaType: MEDIA_TYPES.empty, digest: sha256('{}'), size: 2 },
      layers: [{ mediaType: artifactType, ...blob }],
      subject,
    }
    const bytes = Buffer.from(JSON.stringify(manifest))
    return oci.pushManifest(at(sha256(bytes)), bytes, MEDIA_TYPES.manifest)
  }

  expect(await oci.referrers(at(image.digest))).toEqual([])
  const one = await attach('application/x-one', '1')
  const two = await attach('application/x-two', '2')
  await attach('application/x-two', '2')

  expect((await oci.referrers(at(image.digest))).map(({ digest }) => digest)).toEqual([
    one.digest,
    two.digest,
  ])
  expect(await oci.referrers(at(image.digest), { artifactType: 'application/x-two' })).toEqual([
    expect.objectContaining({ digest: two.digest, artifactType: 'application/x-two' }),
  ])
  const fallback = await oci.manifest(ref(`signed:${referrersTag(image.digest)}`))
  expect(fallback.kind).toBe('index')
})

test('the manifest for a platform is found through an index', async () => {
  const arm = await pushArtifact(ref('multi:arm'), Buffer.from('arm'))
  const intel = await pushArtifact(ref('multi:intel'), Buffer.from('intel'))
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [
      { ...arm, platform: { os: 'linux', architecture: 'arm64', variant: 'v8' } },
      { ...intel, platform: { os: 'linux', architecture: 'amd64' } },
    ],
  }
  await oci.pushManifest(ref('multi:1'), Buffer.from(JSON.stringify(index)), MEDIA_TYPES.index)

  const found = await oci.imageManifest(ref('multi:1'), { os: 'linux', architecture: 'amd64' })
  const none = oci.imageManifest(ref('multi:1'), { os: 'linux', architecture: 's390x' })

  expect(found.descriptor.digest).toBe(intel.digest)
  await expect(none).rejects.toMatchObject({ code: 'oci_missing' })
})

test('a tag that is not there is a failure that names registry and reference', async () => {
  const trial = oci.manifest(ref('team/thing:9.9'))

  await expect(trial).rejects.toMatchObject({
    code: 'oci_missing',
    message: `${registry.host} has no ${registry.host}/team/thing:9.9.`,
  })
  expect(await oci.findManifest(ref('team/thing:9.9'))).toBeUndefined()
})

test('a manifest whose blobs were never pushed is refused by the registry, which the failure says', async () => {
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.empty, digest: sha256('never pushed'), size: 12 },
    layers: [],
  }
  const trial = oci.pushManifest(ref('hollow:1'), Buffer.from(JSON.stringify(manifest)), MEDIA_TYPES.manifest)

  await expect(trial).rejects.toMatchObject({ code: 'oci_broken', message: expect.stringContaining('400') })
})
