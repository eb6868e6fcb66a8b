import { createReadStream } from 'node:fs'
import { digestOf, isDigest, referrersTag } from './digest.ts'
import { failures } from './failures.ts'
import type { Location } from './location.ts'
import { type Descriptor, type ImageIndex, type ManifestDocument, parseManifest } from './manifest.ts'
import { MEDIA_TYPES } from './media-types.ts'
import type { Session } from './oci-session.ts'
import { assertOk } from './pull.ts'
import { listFallback } from './referrers.ts'
import { discard } from './transport.ts'

/** What to upload: bytes, or a file whose digest and size are known. */
export type BlobSource = Buffer | { readonly path: string; readonly digest: string; readonly size: number }

interface PushOptions {
  readonly from?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Uploads in one piece (distribution specification, "Pushing a blob monolithically"), unless it is there already. */
export async function pushBlob(
  session: Session,
  location: Location,
  source: BlobSource,
  { from, signal }: PushOptions,
): Promise<{ readonly digest: string; readonly size: number }> {
  const digest = Buffer.isBuffer(source) ? digestOf(source) : source.digest
  const size = Buffer.isBuffer(source) ? source.length : source.size
  const blobs = `${location.origin}/v2/${location.repository}/blobs`
  const actions = 'pull,push'

  const there = await session(location, { method: 'HEAD', url: `${blobs}/${digest}`, actions, signal })
  discard(there.body)
  if (there.status === 200) return { digest, size }

  const mount = from ? `?${new URLSearchParams({ mount: digest, from })}` : ''
  const begun = await session(location, {
    method: 'POST',
    url: `${blobs}/uploads/${mount}`,
    headers: { 'content-length': '0' },
    actions,
    ...(from ? { alsoPull: from } : {}),
    signal,
  })
  assertOk(location, begun, 201, 202)
  discard(begun.body)
  if (begun.status === 201) return { digest, size }

  const put = await session(location, {
    method: 'PUT',
    url: uploadAddress(location, begun.header('location'), digest).href,
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
    body: () => (Buffer.isBuffer(source) ? source : createReadStream(source.path)),
    actions,
    signal,
  })
  assertOk(location, put, 201, 204)
  discard(put.body)
  return { digest, size }
}

/** Where the registry wants the bytes; never in clear when the registry itself is reached over TLS. */
function uploadAddress(location: Location, given: string | undefined, digest: string): URL {
  const url = given === undefined ? null : URL.parse(given, location.origin)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw failures.oci_broken({ ...location, problem: 'no address to upload to' })
  }
  if (url.protocol === 'http:' && url.origin !== location.origin) {
    throw failures.oci_broken({ ...location, problem: `an upload address without TLS (${url.host})` })
  }
  url.searchParams.set('digest', digest)
  return url
}

/**
 * Uploads a manifest; the manifest that it refers to lists it, through the referrers API or the fallback tag.
 */
export async function pushManifest(
  session: Session,
  location: Location,
  bytes: Buffer,
  mediaType: string,
  signal?: AbortSignal,
): Promise<Descriptor> {
  const document = parseManifest(bytes, mediaType)
  if (typeof document === 'string') {
    throw failures.oci_reference({
      reference: location.reference,
      problem: `its manifest is wrong: ${document}.`,
    })
  }
  const digest = digestOf(bytes, location.digest)
  if (location.digest && location.digest !== digest) {
    throw failures.oci_digest({ ...location, wanted: location.digest, found: digest })
  }
  const answer = await session(location, {
    method: 'PUT',
    url: `${location.origin}/v2/${location.repository}/manifests/${location.digest ?? location.tag}`,
    headers: { 'content-type': mediaType },
    body: () => bytes,
    actions: 'pull,push',
    signal,
  })
  assertOk(location, answer, 201, 202)
  discard(answer.body)
  const said = answer.header('docker-content-digest')
  if (said && isDigest(said) && said !== digestOf(bytes, said)) {
    throw failures.oci_digest({ ...location, wanted: digest, found: said })
  }
  const descriptor = describe(document, digest, bytes.length)
  const { subject } = document.content
  if (subject && answer.header('oci-subject') === undefined) {
    await addToFallback(session, location, subject.digest, descriptor, signal)
  }
  return descriptor
}

function describe({ kind, mediaType, content }: ManifestDocument, digest: string, size: number): Descriptor {
  const type = content.artifactType ?? (kind === 'manifest' ? content.config.mediaType : undefined)
  return {
    mediaType,
    digest,
    size,
    ...(type ? { artifactType: type } : {}),
    ...(content.annotations ? { annotations: content.annotations } : {}),
  }
}

/** Adds to the index under the fallback tag. The specification has no lock: of two at the same moment one may be lost. */
async function addToFallback(
  session: Session,
  location: Location,
  subject: string,
  descriptor: Descriptor,
  signal?: AbortSignal,
): Promise<void> {
  const there = await listFallback(session, location, subject, signal)
  if (there.some(({ digest }) => digest === descriptor.digest)) return
  const index: ImageIndex = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [...there, descriptor],
  }
  const bytes = Buffer.from(JSON.stringify(index))
  const target = { ...location, tag: referrersTag(subject), digest: undefined }
  await pushManifest(session, target, bytes, MEDIA_TYPES.index, signal)
}
