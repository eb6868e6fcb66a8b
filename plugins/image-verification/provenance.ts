/** What a registry entry says about who built its image. Empty members say nothing. */
export interface Provenance {
  /** Which Sigstore instance: `tuf-repo-cdn.sigstore.dev` (also when empty) or `tuf-repo.github.com`. */
  sigstore_url?: string
  repository_uri?: string
  repository_ref?: string
  signer_identity?: string
  runner_environment?: string
  cert_issuer?: string
  attestation?: { predicate_type?: string; predicate?: unknown }
}

/**
 * Whether it narrows down who may have signed. An issuer alone does not: everybody with an account
 * there would do, and then a signature proves nothing.
 */
export const namesSigner = (provenance: Provenance | undefined): provenance is Provenance =>
  Boolean(provenance?.repository_uri || provenance?.signer_identity)
