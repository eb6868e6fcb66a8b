import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toProblem } from '../../src/net/fetch-problem.ts'
import { digestOf, hashFor, isDigest } from './digest.ts'
import { failures } from './failures.ts'
import type { Location } from './location.ts'
import { type Descriptor, type ManifestDocument, parseManifest } from './manifest.ts'
import { ACCEPT_MANIFEST } from './media-types.ts'
import type { Session } from './oci-session.ts'
import { discard, type RegistryAnswer, readBody, toFailure } from './transport.ts'

/** Larger ones a registry need not take either (distribution specification, "Pushing Manifests"). */
const MAX_MANIFEST = 4 * 1024 * 1024
const MAX_SMALL_BLOB = 10 * 1024 * 1024

/** A manifest or index, and the bytes that have its digest. */
export type Manifest = ManifestDocument & {
  readonly descriptor: Descriptor
  readonly bytes: Buffer
}

/**
 * Gets what a tag or digest names; undefined when the registry does not have it. The digest is that
 * of the bytes: what the registry says of it must agree, and so must the digest that was asked for.
 */
export async function fetchManifest(
  session: Session,
  location: Location,
  signal?: AbortSignal,
): Promise<Manifest | undefined> {
  const answer = await session(location, {
    method: 'GET',
    url: `${location.origin}/v2/${location.repository}/manifests/${location.digest ?? location.tag}`,
    headers: { accept: ACCEPT_MANIFEST },
    actions: 'pull',
    signal,
  })
  if (answer.status === 404) {
    discard(answer.body)
    return undefined
  }
  assertOk(location, answer, 200)
  const bytes = await readBody(location, answer, MAX_MANIFEST)
  const said = answer.header('docker-content-digest')
  const wanted = location.digest ?? (said && isDigest(said) ? said : undefined)
  const found = digestOf(bytes, wanted)
  if (wanted && found !== wanted) throw failures.oci_digest({ ...location, wanted, found })
  if (said && isDigest(said) && digestOf(bytes, said) !== said) {
    throw failures.oci_digest({ ...location, wanted: said, found: digestOf(bytes, said) })
  }
  const document = parseManifest(bytes, answer.header('content-type') ?? '')
  if (typeof document === 'string') throw failures.oci_broken({ ...location, problem: document })
  const { artifactType, annotations } = document.content
  return {
    ...document,
    bytes,
    descriptor: {
      mediaType: document.mediaType,
      digest: found,
      size: bytes.length,
      ...(artifactType ? { artifactType } : {}),
      ...(annotations ? { annotations } : {}),
    },
  }
}

export interface BlobOptions {
  readonly limit?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Gets a blob into memory, size and digest checked. */
export async function fetchBlob(
  session: Session,
  location: Location,
  descriptor: Descriptor,
  { limit = MAX_SMALL_BLOB, signal }: BlobOptions,
): Promise<Buffer> {
  const answer = await requestBlob(session, location, descriptor, limit, signal)
  const bytes = await readBody(location, answer, descriptor.size)
  assertContent(location, descriptor, bytes.length, digestOf(bytes, descriptor.digest))
  return bytes
}

/** Streams a blob into a file that appears under its name only when size and digest are right. */
export async function fetchBlobToFile(
  session: Session,
  location: Location,
  descriptor: Descriptor,
  path: string,
  { limit = Number.MAX_SAFE_INTEGER, signal }: BlobOptions,
): Promise<void> {
  const answer = await requestBlob(session, location, descriptor, limit, signal)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  const hash = hashFor(descriptor.digest)
  let size = 0
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      hash.update(chunk)
      done(
        size > descriptor.size ? failures.oci_too_large({ ...location, limit: descriptor.size }) : null,
        chunk,
      )
    },
  })
  try {
    await receive(location, answer, async () => {
      const file = createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true })
      await pipeline(answer.body, check, file, { signal })
    })
    const found = `${descriptor.digest.split(':')[0]}:${hash.digest('hex')}`
    assertContent(location, descriptor, size, found)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Runs what reads a body; trouble of the network becomes a failure, anything else passes. */
async function receive(location: Location, answer: RegistryAnswer, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const isNetwork = /^(UND_ERR|ECONNRESET|EPIPE|HPE_)/.test(code) || answer.body.errored === error
    if (!isNetwork || code === 'ABORT_ERR') throw error
    throw toFailure(toProblem(error, new URL(answer.url), undefined), location)
  }
}

async function requestBlob(
  session: Session,
  location: Location,
  { digest, size }: Descriptor,
  limit: number,
  signal?: AbortSignal,
): Promise<RegistryAnswer> {
  if (!isDigest(digest)) {
    throw failures.oci_reference({
      reference: location.reference,
      problem: 'only sha256 and sha512 digests can be checked.',
    })
  }
  if (size > limit) throw failures.oci_too_large({ ...location, limit })
  const answer = await session(location, {
    method: 'GET',
    url: `${location.origin}/v2/${location.repository}/blobs/${digest}`,
    actions: 'pull',
    signal,
  })
  if (answer.status === 404) {
    discard(answer.body)
    throw failures.oci_missing({ ...location, reference: `${digest} of ${location.reference}` })
  }
  assertOk(location, answer, 200)
  return answer
}

function assertContent(location: Location, { digest, size }: Descriptor, received: number, found: string) {
  if (received !== size) {
    const problem = `${received} bytes where ${size} were announced`
    throw failures.oci_broken({ ...location, problem })
  }
  if (found !== digest) throw failures.oci_digest({ ...location, wanted: digest, found })
}

/** Fails unless the registry responded with an expected status. */
export function assertOk(location: Location, answer: RegistryAnswer, ...expected: readonly number[]): void {
  if (expected.includes(answer.status)) return
  discard(answer.body)
  if (answer.status === 401 || answer.status === 403) {
    throw failures.oci_denied({ ...location, credentials: undefined, problems: [] })
  }
  throw failures.oci_broken({ ...location, problem: `status ${answer.status}` })
}
