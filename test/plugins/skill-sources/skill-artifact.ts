import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { MEDIA_TYPES, type Oci } from '../../../plugins/oci/index.ts'

/** What differs from an artifact as it should be. */
export interface ArtifactFacts {
  /** The label; empty: none. */
  name?: string
  layerType?: string
  layer?: Buffer
  /** Pushed without an index. */
  bare?: boolean
  config?: unknown
}

/** Pushes a skill in the format that ToolHive's installs read, made here byte by byte; answers its digest. */
export async function pushArtifact(
  oci: Oci,
  reference: string,
  files: Readonly<Record<string, string>>,
  facts: ArtifactFacts = {},
): Promise<string> {
  const repository = reference.replace(/:[^:/]*$/, '')
  const { name = repository.slice(repository.lastIndexOf('/') + 1) } = facts
  const tar = tarOf(files)
  const layer = facts.layer ?? gzipSync(tar)
  const config = facts.config ?? {
    created: '1970-01-01T00:00:00Z',
    architecture: 'amd64',
    os: 'linux',
    config: {
      Labels: { ...(name ? { 'dev.toolhive.skills.name': name } : {}), 'dev.toolhive.skills.files': 'null' },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(tar).digest('hex')}`] },
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    artifactType: 'dev.toolhive.skills.v1',
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      ...(await oci.pushBlob(reference, Buffer.from(JSON.stringify(config)))),
    },
    layers: [
      {
        mediaType: facts.layerType ?? 'application/vnd.oci.image.layer.v1.tar+gzip',
        ...(await oci.pushBlob(reference, layer)),
        annotations: { 'org.opencontainers.image.title': 'skill.tar.gz' },
      },
    ],
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  if (facts.bare) return (await oci.pushManifest(reference, bytes, MEDIA_TYPES.manifest)).digest
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const pushed = await oci.pushManifest(`${repository}@${digest}`, bytes, MEDIA_TYPES.manifest)
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    artifactType: 'dev.toolhive.skills.v1',
    manifests: [{ ...pushed, annotations: undefined, platform: { os: 'linux', architecture: 'amd64' } }],
  }
  return (await oci.pushManifest(reference, Buffer.from(JSON.stringify(index)), MEDIA_TYPES.index)).digest
}

/** A ustar archive of regular files (POSIX.1-1988 "ustar Interchange Format"). */
function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const blocks: Buffer[] = []
  for (const [path, content] of Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const size = Buffer.byteLength(content)
    const header = Buffer.alloc(512)
    header.write(path, 0)
    header.write('0000644\0', 100)
    header.write('0000000\0', 108)
    header.write('0000000\0', 116)
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
    header.write('00000000000\0', 136)
    header.write('        ', 148)
    header.write('0ustar\u000000', 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    blocks.push(header, Buffer.from(content), Buffer.alloc((512 - (size % 512)) % 512))
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}
