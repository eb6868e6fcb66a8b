import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { isDigest } from './digest.ts'
import { failures } from './failures.ts'

/** The place of an artifact: a reference with all that short forms leave out. */
export interface Location {
  /** As the user wrote it, for messages. */
  readonly reference: string
  /** Name of the registry, as people and credential files say it. */
  readonly registry: string
  /** `https://host[:port]` of its API. */
  readonly origin: string
  readonly repository: string
  readonly tag: string
  readonly digest: string | undefined
  /** Whether nothing of it may be on this machine or in a private network, since a stranger named it. */
  readonly publicOnly?: boolean
}

const HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io'])

/** The name that a registry goes by: Docker Hub has three. */
export const registryName = (host: string | undefined): string =>
  host === undefined || HUB.has(host.toLowerCase()) ? 'docker.io' : host.toLowerCase()

/**
 * Reads a reference. Plain HTTP is spoken with registries on this machine and with those in
 * `insecure`, nowhere else, and nothing falls back to it.
 */
export function parseLocation(reference: string, insecure: ReadonlySet<string>): Location {
  const parsed = parseOciReference(reference)
  if (!parsed) throw failures.oci_reference({ reference, problem: 'it is not an image reference.' })
  const { repository, tag = 'latest', digest } = parsed
  if (digest && !isDigest(digest)) {
    throw failures.oci_reference({ reference, problem: 'only sha256 and sha512 digests can be checked.' })
  }
  const registry = registryName(parsed.registry)
  const isHub = registry === 'docker.io'
  const host = isHub ? 'registry-1.docker.io' : registry
  const isPlain = isLoopback(new URL(`http://${host}`).hostname) || insecure.has(registry)
  return {
    reference,
    registry,
    origin: `${isPlain ? 'http' : 'https'}://${host}`,
    repository: isHub && !repository.includes('/') ? `library/${repository}` : repository,
    tag,
    digest,
  }
}

/** The reference of exactly these bytes, registry and repository spelled as in the original. */
export function pinReference(reference: string, digest: string): string {
  const { registry, repository = reference } = parseOciReference(reference) ?? {}
  return `${registry ? `${registry}/` : ''}${repository}@${digest}`
}
