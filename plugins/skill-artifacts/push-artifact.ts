import { isFailure, messageOf } from '../../src/errors.ts'
import { type ImageIndex, type ImageManifest, MEDIA_TYPES, type Oci, pinReference } from '../oci/index.ts'
import { SKILL_ARTIFACT } from './artifact-names.ts'
import { failures } from './failures.ts'
import type { Signer } from './sign/signing.ts'

export interface PushOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with what is being done, in a few words. */
  readonly progress?: ((what: string) => void) | undefined
}

/** An artifact to push, and where to. */
interface Artifact {
  readonly oci: Oci
  /** The target, with registry and tag. */
  readonly reference: string
  /** The digest of its index. */
  readonly digest: string
  /** Returns a blob of it whose digest was checked. */
  readonly read: (digest: string) => Promise<Buffer>
}

const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json'

/**
 * Uploads an artifact, then its signature. The tag is written last, so that it never names an incomplete
 * artifact. Signing comes before the upload, so that a wrong key or token changes nothing in the registry.
 */
export async function pushArtifact(
  { oci, reference, digest, read }: Artifact,
  signer: Signer | undefined,
  { signal, progress }: PushOptions,
): Promise<void> {
  const payload = signedPayload(reference, digest)
  const annotations = signer && (await signer(payload))
  const index: ImageIndex = JSON.parse((await read(digest)).toString('utf8'))
  const sent = new Set<string>()
  const sendBlob = async (blob: string, what: string) => {
    if (sent.has(blob)) return
    sent.add(blob)
    progress?.(`Sending ${what}`)
    await oci.pushBlob(reference, await read(blob), { signal })
  }
  for (const { digest: platform } of index.manifests) {
    const bytes = await read(platform)
    const { layers, config }: ImageManifest = JSON.parse(bytes.toString('utf8'))
    for (const layer of layers) await sendBlob(layer.digest, 'the files')
    await sendBlob(config.digest, 'the description')
    await oci.pushManifest(pinReference(reference, platform), bytes, MEDIA_TYPES.manifest, { signal })
  }
  await oci.pushManifest(reference, await read(digest), MEDIA_TYPES.index, { signal })
  if (!annotations) return
  progress?.('Sending the signature')
  try {
    await pushSignature(oci, reference, digest, { payload, annotations }, signal)
  } catch (error) {
    signal?.throwIfAborted()
    if (!isFailure(error)) throw error
    throw failures.skill_signing_failed({ reference, problem: messageOf(error) }, { cause: error })
  }
}

/** Returns what cosign signs: the digest and the reference (cosign signature specification, "Simple Signing"). */
function signedPayload(reference: string, digest: string): Buffer {
  const [name] = pinReference(reference, digest).split('@')
  return Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': name },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  )
}

/** Adds a signature to those under cosign's tag. */
async function pushSignature(
  oci: Oci,
  reference: string,
  digest: string,
  { payload, annotations }: { payload: Buffer; annotations: Record<string, string> },
  signal: AbortSignal | undefined,
): Promise<void> {
  const [repository] = pinReference(reference, digest).split('@')
  const tag = `${repository}:${digest.replace(':', '-')}.sig`
  const there = await oci.findManifest(tag, { signal })
  const layers = there?.kind === 'manifest' ? there.content.layers : []
  const layer = await oci.pushBlob(tag, payload, { signal })
  const all = [...layers, { mediaType: SIMPLE_SIGNING, ...layer, annotations }]
  const config = Buffer.from(
    JSON.stringify({
      architecture: '',
      created: '0001-01-01T00:00:00Z',
      os: '',
      rootfs: { type: 'layers', diff_ids: all.map(each => each.digest) },
      config: {},
    }),
  )
  const content: ImageManifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: SKILL_ARTIFACT.config, ...(await oci.pushBlob(tag, config, { signal })) },
    layers: all,
  }
  await oci.pushManifest(tag, Buffer.from(JSON.stringify(content)), MEDIA_TYPES.manifest, { signal })
}
