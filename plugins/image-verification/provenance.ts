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

/** The login of GitHub's workflows, as certificates name it. */
export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com'

/** The logins of repository hosts whose workflows sign. */
const ISSUERS: Readonly<Record<string, string>> = {
  'github.com': GITHUB_ISSUER,
  'gitlab.com': 'https://gitlab.com',
}

/**
 * The login that the certificate must name: the entry's, else that of the repository's host. Undefined: a
 * signature of this name could be had from any login, where somebody else may have it.
 */
export function issuerOf({ cert_issuer, signer_identity, repository_uri }: Provenance): string | undefined {
  if (cert_issuer) return cert_issuer
  return signer_identity ? undefined : ISSUERS[URL.parse(repository_uri ?? '')?.host ?? '']
}
