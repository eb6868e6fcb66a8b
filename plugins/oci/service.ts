import { isDigest } from './digest.ts'
import { failures } from './failures.ts'
import { type Location, parseLocation } from './location.ts'
import { choosePlatform, type Descriptor, type ImageManifest, type Platform } from './manifest.ts'
import type { Session } from './oci-session.ts'
import { fetchBlob, fetchBlobToFile, fetchManifest, type Manifest } from './pull.ts'
import { type BlobSource, pushBlob, pushManifest } from './push.ts'
import { fetchReferrers } from './referrers.ts'

/**
 * A client of OCI registries (OCI distribution specification 1.1). References may be short, as docker takes them.
 *
 * Ours because no package checks digests, sizes, redirects and addresses of what strangers' registries send.
 */
export interface Oci {
  /**
   * The same client for references that strangers wrote: it goes nowhere on this machine or in a private
   * network, except to the registries in `KEELSON_INSECURE_REGISTRIES`.
   */
  publicOnly(): Oci
  /** The manifest or index that a tag or digest names; its bytes have the digest it comes with. */
  manifest(reference: string, options?: CallOptions): Promise<Manifest>
  /** The same, but undefined when there is none. */
  findManifest(reference: string, options?: CallOptions): Promise<Manifest | undefined>
  /** The image manifest for a platform, looked up through an index where there is one. */
  imageManifest(
    reference: string,
    platform: Platform,
    options?: CallOptions,
  ): Promise<{ readonly descriptor: Descriptor; readonly content: ImageManifest }>
  /** A small blob, e.g. a signature or a configuration; at most `limit` bytes. */
  blob(reference: string, descriptor: Descriptor, options?: CallOptions & { limit?: number }): Promise<Buffer>
  /** Streams a blob into a file, which is there whole and checked or not at all. */
  blobToFile(
    reference: string,
    descriptor: Descriptor,
    path: string,
    options?: CallOptions & { limit?: number },
  ): Promise<void>
  /** What refers to a digest, of one type or all; the referrers API, or its tag fallback. */
  referrers(reference: string, options?: CallOptions & { artifactType?: string }): Promise<Descriptor[]>
  /** Uploads a blob unless it is there; `from` names a repository of the same registry that may have it. */
  pushBlob(
    reference: string,
    source: BlobSource,
    options?: CallOptions & { from?: string },
  ): Promise<{ readonly digest: string; readonly size: number }>
  /**
   * Uploads a manifest or index under the reference's tag or digest. With a `subject`, the list of
   * what refers to it is brought up to date where the registry does not do that itself.
   */
  pushManifest(
    reference: string,
    bytes: Buffer,
    mediaType: string,
    options?: CallOptions,
  ): Promise<Descriptor>
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export function createOci(options: {
  session: Session
  insecure: ReadonlySet<string>
  publicOnly?: boolean
}): Oci {
  const { session, insecure, publicOnly = false } = options
  const at = (reference: string): Location => {
    const location = parseLocation(reference, insecure)
    return publicOnly && !insecure.has(location.registry) ? { ...location, publicOnly } : location
  }

  const manifest: Oci['manifest'] = async (reference, { signal } = {}) => {
    const location = at(reference)
    const found = await fetchManifest(session, location, signal)
    if (!found) throw failures.oci_missing(location)
    return found
  }

  return {
    publicOnly: () => createOci({ ...options, publicOnly: true }),
    manifest,
    findManifest: async (reference, { signal } = {}) => fetchManifest(session, at(reference), signal),

    async imageManifest(reference, platform, options) {
      const top = await manifest(reference, options)
      if (top.kind === 'manifest') return { descriptor: top.descriptor, content: top.content }
      const location = at(reference)
      const name = `${platform.os}/${platform.architecture}`
      const chosen = choosePlatform(top.content, platform)
      if (!chosen) throw failures.oci_missing({ ...location, reference: `${reference} for ${name}` })
      const found = await fetchManifest(session, { ...location, digest: chosen.digest }, options?.signal)
      if (!found) throw failures.oci_missing({ ...location, reference: `${reference} for ${name}` })
      if (found.kind === 'manifest') return { descriptor: found.descriptor, content: found.content }
      throw failures.oci_broken({ ...location, problem: 'an index in which there is another index' })
    },

    blob: async (reference, descriptor, { signal, limit } = {}) =>
      fetchBlob(session, at(reference), descriptor, { signal, limit }),

    blobToFile: async (reference, descriptor, path, { signal, limit } = {}) =>
      fetchBlobToFile(session, at(reference), descriptor, path, { signal, limit }),

    async referrers(reference, { signal, artifactType } = {}) {
      const location = at(reference)
      if (!location.digest || !isDigest(location.digest)) {
        throw failures.oci_reference({ reference, problem: 'what refers to it is asked by digest.' })
      }
      return fetchReferrers(session, location, location.digest, { artifactType, signal })
    },

    pushBlob: async (reference, source, { from, signal } = {}) =>
      pushBlob(session, at(reference), source, { from, signal }),

    pushManifest: async (reference, bytes, mediaType, { signal } = {}) =>
      pushManifest(session, at(reference), bytes, mediaType, signal),
  }
}
