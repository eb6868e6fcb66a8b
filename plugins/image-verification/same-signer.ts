import { withoutRef } from './match-provenance.ts'
import type { Provenance } from './provenance.ts'
import { GITHUB_ISSUER } from './provenance.ts'
import type { ImageSigner } from './section.ts'
import type { SignerClaims } from './signer-claims.ts'

/** Returns who made an image: its signer, or whom its registry entry names; undefined when neither is known. */
export function toImageSigner(
  provenance: Provenance | undefined,
  claims: SignerClaims | undefined,
): ImageSigner | undefined {
  const { signer_identity, cert_issuer, repository_uri, sigstore_url } = provenance ?? {}
  const identity = claims?.identity ?? signer_identity
  const issuer = claims?.issuer ?? cert_issuer
  const repository = claims?.repositoryUri ?? repository_uri
  if (!identity && !issuer && !repository) return undefined
  return {
    ...(identity ? { identity } : {}),
    ...(issuer ? { issuer } : {}),
    ...(repository ? { repository } : {}),
    ...(sigstore_url ? { sigstore_url } : {}),
    verified: claims !== undefined,
  }
}

/** Returns what a signature must match to come from this signer. */
export const toProvenance = ({ identity, issuer, repository, sigstore_url }: ImageSigner): Provenance => ({
  ...(identity ? { signer_identity: identity } : {}),
  ...(issuer ? { cert_issuer: issuer } : {}),
  ...(repository ? { repository_uri: repository } : {}),
  ...(sigstore_url ? { sigstore_url } : {}),
})

/** Whether everything known about one signer matches the other. Another tag of the same workflow is the same signer. */
export function isSameSigner(before: ImageSigner, after: ImageSigner): boolean {
  const matches = (known: string | undefined, found: string | undefined) => !known || known === found
  return (
    matches(before.issuer, after.issuer) &&
    matches(before.repository, after.repository) &&
    matches(nameOf(before), nameOf(after))
  )
}

/** The identity in the one form that does not change with every release. */
function nameOf({ identity, issuer, repository }: ImageSigner): string | undefined {
  if (identity?.startsWith('/') && repository) return `${repository}${identity}`
  return identity && (issuer === undefined || issuer === GITHUB_ISSUER) ? withoutRef(identity) : identity
}

/** For a person. */
export const describeSigner = (signer: ImageSigner | undefined): string =>
  signer?.identity ?? signer?.repository ?? signer?.issuer ?? 'an unknown maker'
