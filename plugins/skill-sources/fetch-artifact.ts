import { join } from 'node:path'
import { type Descriptor, type ImageManifest, type Manifest, type Oci, pinReference } from '../oci/index.ts'
import { extractSkill, LIMITS, SKILL_ARTIFACT } from '../skill-artifacts/index.ts'
import { failures } from './failures.ts'

/** A skill that was unpacked from an OCI artifact. */
export interface FetchedArtifact {
  /** The digest of the index, or of the manifest of an artifact without an index. */
  readonly digest: string
  /** The skill's name in the configuration of the artifact. */
  readonly name: string
}

export interface ArtifactFetch {
  readonly oci: Oci
  /** An empty folder for the files. */
  readonly target: string
  /** A folder for the archive. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly progress?: ((what: string) => void) | undefined
}

const LAYER = SKILL_ARTIFACT.layer
const NAME_LABEL = SKILL_ARTIFACT.annotation.name

/** Fetches the artifact of a whole reference. The platforms share their content, so the first one of an index is used. */
export async function fetchArtifact(reference: string, options: ArtifactFetch): Promise<FetchedArtifact> {
  const { oci, target, scratch, signal, progress } = options
  const refuse = (problem: string) => failures.skill_content_refused({ reference, problem })
  progress?.(`fetching ${reference}`)
  const top = await oci.manifest(reference, { signal })
  const { digest } = top.descriptor
  const manifest = await firstManifest(oci, reference, top, signal)
  const [layer] = manifest?.layers ?? []
  if (!manifest || !layer) throw refuse('its index has no manifest with a layer')
  if (layer.mediaType !== LAYER)
    throw refuse(`its first layer is of the type ${layer.mediaType}, not ${LAYER}`)
  if (layer.size > LIMITS.archiveBytes) {
    throw refuse(`its archive is larger than ${LIMITS.archiveBytes / 1024 / 1024} MiB`)
  }
  const name = await readName(oci, reference, manifest.config, signal)
  if (name === undefined) throw refuse(`it has no label ${NAME_LABEL}: it is an image of another kind`)
  progress?.(`fetching ${reference}: ${Math.ceil(layer.size / 1024)} KiB`)
  const archive = join(scratch, 'skill.tar.gz')
  await oci.blobToFile(reference, layer, archive, { signal, limit: LIMITS.archiveBytes })
  await extractSkill(archive, target, { signal })
  return { digest, name }
}

async function firstManifest(
  oci: Oci,
  reference: string,
  top: Manifest,
  signal: AbortSignal,
): Promise<ImageManifest | undefined> {
  if (top.kind === 'manifest') return top.content
  const [first] = top.content.manifests
  if (!first) return undefined
  const found = await oci.manifest(pinReference(reference, first.digest), { signal })
  return found.kind === 'manifest' ? found.content : undefined
}

async function readName(
  oci: Oci,
  reference: string,
  config: Descriptor,
  signal: AbortSignal,
): Promise<string | undefined> {
  const bytes = await oci.blob(reference, config, { signal, limit: 1024 * 1024 })
  try {
    const document = JSON.parse(bytes.toString('utf8')) as {
      config?: { Labels?: Record<string, unknown> }
    } | null
    const name = document?.config?.Labels?.[NAME_LABEL]
    return typeof name === 'string' && name ? name : undefined
  } catch {
    return undefined
  }
}
