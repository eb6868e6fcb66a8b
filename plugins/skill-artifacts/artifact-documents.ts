import { type Descriptor, type ImageIndex, type ImageManifest, MEDIA_TYPES } from '../oci/index.ts'
import { SKILL_ARTIFACT } from './artifact-names.ts'
import type { SkillManifest } from './skill-manifest.ts'

/** A document and the descriptor that points at it. */
export interface Written {
  readonly descriptor: Descriptor
  readonly bytes: Buffer
}

/** The documents of an artifact: all of it except the layer. */
export interface ArtifactDocuments {
  /** Configurations and manifests. Each follows the documents that it points at. */
  readonly parts: readonly Written[]
  readonly index: Written
}

const PLATFORMS = ['amd64', 'arm64'].map(architecture => ({ architecture, os: 'linux' }))

/** The packed files of a skill, with its manifest. */
export interface PackedLayer {
  readonly digest: string
  readonly size: number
  /** The digest of the archive before compression. */
  readonly diffId: string
  /** Paths, sorted. */
  readonly files: readonly string[]
}

/** Makes the documents of an artifact: an index, and for each platform a manifest and a configuration that share the layer. */
export function artifactDocuments(
  manifest: SkillManifest,
  layer: PackedLayer,
  options: { epoch: number; digestOf: (bytes: Buffer) => string },
): ArtifactDocuments {
  const { annotation } = SKILL_ARTIFACT
  const created = new Date(options.epoch * 1000).toISOString().replace('.000Z', 'Z')
  const annotations: Record<string, string> = {
    [annotation.created]: created,
    [annotation.name]: manifest.name,
    [annotation.description]: manifest.description,
    [annotation.version]: manifest.version ?? '',
    ...(manifest.requires.length ? { [annotation.requires]: JSON.stringify(manifest.requires) } : {}),
  }
  const written = (mediaType: string, document: unknown): Written => {
    const bytes = Buffer.from(JSON.stringify(document))
    return { bytes, descriptor: { mediaType, digest: options.digestOf(bytes), size: bytes.length } }
  }
  const perPlatform = PLATFORMS.map(platform => {
    const config = written(SKILL_ARTIFACT.config, {
      created,
      ...platform,
      config: { Labels: labelsOf(manifest, layer) },
      rootfs: { type: 'layers', diff_ids: [layer.diffId] },
      history: [{ created, created_by: 'keelson skill build' }],
    })
    const content: ImageManifest = {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      artifactType: SKILL_ARTIFACT.type,
      config: config.descriptor,
      layers: [
        {
          mediaType: SKILL_ARTIFACT.layer,
          digest: layer.digest,
          size: layer.size,
          annotations: { [annotation.title]: 'skill.tar.gz' },
        },
      ],
      annotations,
    }
    return { platform, config, manifest: written(MEDIA_TYPES.manifest, content) }
  })
  const index: ImageIndex = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    artifactType: SKILL_ARTIFACT.type,
    manifests: perPlatform.map(({ platform, manifest: { descriptor } }) => ({ ...descriptor, platform })),
    annotations,
  }
  return {
    parts: perPlatform.flatMap(({ config, manifest }) => [config, manifest]),
    index: written(MEDIA_TYPES.index, index),
  }
}

/** Returns the labels of the configuration. Lists are JSON; an empty one is `null`. */
function labelsOf(manifest: SkillManifest, { files }: PackedLayer): Record<string, string> {
  const { annotation } = SKILL_ARTIFACT
  const list = (items: readonly string[]) => (items.length ? JSON.stringify(items) : 'null')
  return {
    [annotation.name]: manifest.name,
    [annotation.description]: manifest.description,
    [annotation.version]: manifest.version ?? '',
    [annotation.allowedTools]: list(manifest.allowedTools),
    [annotation.license]: manifest.license ?? '',
    [annotation.files]: list(files),
  }
}
