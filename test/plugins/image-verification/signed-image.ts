import type { ImageManifest, Oci } from '../../../plugins/oci/index.ts'
import { MEDIA_TYPES, pinReference, referrersTag } from '../../../plugins/oci/index.ts'
import type { Bundle, CosignLayer } from '../../support/sigstore.ts'

export interface PushedImage {
  /** With its tag. */
  readonly reference: string
  readonly digest: string
  readonly manifest: Buffer
}

/** Pushes a tiny image; `content` makes it differ from others. */
export async function pushImage(oci: Oci, reference: string, content: string): Promise<PushedImage> {
  const config = await oci.pushBlob(reference, Buffer.from('{}'))
  const layer = await oci.pushBlob(reference, Buffer.from(content))
  const document: ImageManifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...layer }],
  }
  const manifest = Buffer.from(JSON.stringify(document))
  const { digest } = await oci.pushManifest(reference, manifest, MEDIA_TYPES.manifest)
  return { reference, digest, manifest }
}

/** Attaches a bundle as today's tools do: a manifest that refers to the image. */
export async function attachBundle(
  oci: Oci,
  image: Pick<PushedImage, 'reference' | 'digest'> & { manifest?: Buffer },
  bundle: Bundle | string,
): Promise<void> {
  const type = 'application/vnd.dev.sigstore.bundle.v0.3+json'
  const bytes = Buffer.from(typeof bundle === 'string' ? bundle : JSON.stringify(bundle))
  const config = await oci.pushBlob(image.reference, Buffer.from('{}'))
  const layer = await oci.pushBlob(image.reference, bytes)
  const document: ImageManifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    artifactType: type,
    config: { mediaType: MEDIA_TYPES.empty, ...config },
    layers: [{ mediaType: type, ...layer }],
    subject: { mediaType: MEDIA_TYPES.manifest, digest: image.digest, size: image.manifest?.length ?? 0 },
  }
  const manifest = Buffer.from(JSON.stringify(document))
  const tag = `attached-${layer.digest.slice(7, 27)}`
  const [repository] = pinReference(image.reference, image.digest).split('@')
  await oci.pushManifest(`${repository}:${tag}`, manifest, MEDIA_TYPES.manifest)
}

/** Writes the manifest under cosign's signature tag. */
export async function attachCosign(
  oci: Oci,
  image: PushedImage,
  signatures: readonly CosignLayer[],
): Promise<void> {
  await pushCosignTag(oci, image, '.sig', 'application/vnd.dev.cosign.simplesigning.v1+json', signatures)
}

/** Writes an attestation as cosign did before bundles: an envelope under the attestation tag. */
export async function attachCosignAttestation(oci: Oci, image: PushedImage, bundle: Bundle): Promise<void> {
  const { certificate, tlogEntries } = bundle.verificationMaterial
  const [entry] = tlogEntries
  const log = {
    SignedEntryTimestamp: entry.inclusionPromise.signedEntryTimestamp,
    Payload: {
      body: entry.canonicalizedBody,
      integratedTime: Number(entry.integratedTime),
      logIndex: Number(entry.logIndex),
      logID: Buffer.from(entry.logId.keyId, 'base64').toString('hex'),
    },
  }
  const layer = {
    payload: Buffer.from(JSON.stringify(bundle.dsseEnvelope)),
    annotations: {
      'dev.sigstore.cosign/certificate': `-----BEGIN CERTIFICATE-----\n${certificate.rawBytes}\n-----END CERTIFICATE-----\n`,
      'dev.sigstore.cosign/bundle': JSON.stringify(log),
    },
  }
  await pushCosignTag(oci, image, '.att', 'application/vnd.dsse.envelope.v1+json', [layer])
}

async function pushCosignTag(
  oci: Oci,
  image: PushedImage,
  suffix: string,
  mediaType: string,
  contents: readonly CosignLayer[],
): Promise<void> {
  const [repository] = pinReference(image.reference, image.digest).split('@')
  const config = await oci.pushBlob(image.reference, Buffer.from('{}'))
  const layers = []
  for (const { payload, annotations } of contents) {
    layers.push({ mediaType, ...(await oci.pushBlob(image.reference, payload)), annotations })
  }
  const document: ImageManifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: { mediaType: MEDIA_TYPES.empty, ...config },
    layers,
  }
  const bytes = Buffer.from(JSON.stringify(document))
  const tag = `${referrersTag(image.digest)}${suffix}`
  await oci.pushManifest(`${repository}:${tag}`, bytes, MEDIA_TYPES.manifest)
}
