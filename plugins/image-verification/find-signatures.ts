import { isFailure, messageOf } from '../../src/errors.ts'
import { type Descriptor, type ImageManifest, MEDIA_TYPES, type Oci, pinReference } from '../oci/index.ts'
import { CERTIFICATE, DSSE_ENVELOPE, SIMPLE_SIGNING, toBundle } from './cosign.ts'

/** Something that may be a signature of the image; nothing about it has been checked. */
export interface Candidate {
  /** A Sigstore bundle, as JSON. */
  readonly bundle: unknown
  /** The bytes that a plain signature signs: cosign's payload, or (undefined) the image's own manifest. */
  readonly payload?: Buffer
}

/** A candidate, or why something that looked like one, or a place to look, could not be read. */
export type Found =
  | Candidate
  | {
      readonly problem: string
      /** It is made with a plain key, which does not say who holds it. */
      readonly byKey?: boolean
    }

const BY_KEY: Found = {
  problem: 'a signature is made with a plain key, which does not say whose',
  byKey: true,
}

const BUNDLE = 'application/vnd.dev.sigstore.bundle'
/** More than this many in one place are not looked at: whoever may push could keep us busy for ever. */
const MAX_CANDIDATES = 30

/**
 * Finds what may be signatures of a digest: referrers (or their tag fallback), then the tags that cosign used
 * before. What cannot be read is reported and skipped, so that it does not hide a valid signature.
 */
export async function* findSignatures(
  oci: Oci,
  reference: string,
  digest: string,
  signal?: AbortSignal,
): AsyncGenerator<Found> {
  const pinned = pinReference(reference, digest)
  const [repository = ''] = pinned.split('@')
  const cosignTag = `${repository}:${digest.replace(':', '-')}`
  for (const find of [
    () => fromReferrers(oci, pinned, signal),
    () => fromCosignTag(oci, `${cosignTag}.sig`, SIMPLE_SIGNING, signal),
    () => fromCosignTag(oci, `${cosignTag}.att`, DSSE_ENVELOPE, signal),
  ]) {
    let left = MAX_CANDIDATES
    try {
      for await (const found of find()) {
        if (left-- <= 0) break
        yield found
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isFailure(error)) throw error
      yield { problem: messageOf(error).replace(/\.$/, '') }
    }
  }
}

async function* fromReferrers(oci: Oci, pinned: string, signal?: AbortSignal): AsyncGenerator<Found> {
  const [repository = ''] = pinned.split('@')
  for (const descriptor of await oci.referrers(pinned, { signal })) {
    if (!mayBeBundle(descriptor)) continue
    yield* attempt(signal, async () => {
      const { content } = await manifestOf(oci, `${repository}@${descriptor.digest}`, signal)
      const layer = content.layers[0]
      if (!layer?.mediaType.startsWith(BUNDLE)) return undefined
      const bytes = await oci.blob(pinned, layer, { signal })
      const bundle = JSON.parse(bytes.toString('utf8'))
      return bundle?.verificationMaterial?.publicKey ? BY_KEY : { bundle }
    })
  }
}

/** Some tools leave the type of the artifact to its layer. */
function mayBeBundle({ artifactType }: Descriptor): boolean {
  return !artifactType || artifactType === MEDIA_TYPES.empty || artifactType.startsWith(BUNDLE)
}

async function* fromCosignTag(
  oci: Oci,
  reference: string,
  type: string,
  signal?: AbortSignal,
): AsyncGenerator<Found> {
  const found = await oci.findManifest(reference, { signal })
  if (found?.kind !== 'manifest') return
  for (const layer of found.content.layers.filter(({ mediaType }) => mediaType === type)) {
    if (!layer.annotations?.[CERTIFICATE]) {
      yield BY_KEY
      continue
    }
    yield* attempt(signal, async () => {
      const payload = await oci.blob(reference, layer, { signal })
      return { bundle: toBundle(layer, payload), payload }
    })
  }
}

/** Reads one candidate; what goes wrong concerns that one only. */
async function* attempt(
  signal: AbortSignal | undefined,
  read: () => Promise<Found | undefined>,
): AsyncGenerator<Found> {
  try {
    const candidate = await read()
    if (candidate) yield candidate
  } catch (error) {
    signal?.throwIfAborted()
    const problem = isFailure(error) ? messageOf(error).replace(/\.$/, '') : 'it cannot be read'
    yield { problem: `a signature is of no use: ${problem}` }
  }
}

async function manifestOf(
  oci: Oci,
  reference: string,
  signal?: AbortSignal,
): Promise<{ content: ImageManifest }> {
  const found = await oci.manifest(reference, { signal })
  if (found.kind !== 'manifest') throw new Error('an index')
  return found
}
