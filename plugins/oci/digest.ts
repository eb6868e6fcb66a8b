import { createHash, type Hash } from 'node:crypto'

/** A digest that can be checked here (OCI image specification, "Registered algorithms"). */
export const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/

export const isDigest = (text: string): boolean => DIGEST.test(text)

/** A hash of the digest's own algorithm. */
export const hashFor = (digest: string): Hash =>
  createHash(digest.startsWith('sha512:') ? 'sha512' : 'sha256')

/** The digest of some bytes, by the algorithm of another digest (sha256 without one). */
export function digestOf(bytes: Uint8Array, like = 'sha256:'): string {
  return `${like.split(':')[0]}:${hashFor(like).update(bytes).digest('hex')}`
}

/** The tag that lists what refers to a digest where a registry has no referrers API ("Referrers Tag Schema"). */
export const referrersTag = (digest: string): string => digest.replace(':', '-').slice(0, 128)
