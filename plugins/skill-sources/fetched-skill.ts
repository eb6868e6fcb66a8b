import type { SkillManifest } from '../skill-artifacts/index.ts'

/** A published skill's makers, as a lock file keeps them: who signed, and where it was built. */
export interface SkillSigner {
  /** The certificate's subject: a workflow's address, an e-mail address. */
  readonly signerIdentity: string
  readonly certIssuer: string
  readonly repositoryUri?: string
  readonly repositoryRef?: string
  readonly runnerEnvironment?: string
  readonly sigstoreUrl?: string
  /** Proven by a certificate chain alone, without a transparency log (signed git commits). */
  readonly provisional?: boolean
}

/** A skill that lies, fetched and checked, in a staging folder: regular files only, nothing of it installed. */
export interface FetchedSkill {
  /** Holds SKILL.md and the rest; its maker removes it when the work is done. */
  readonly folder: string
  readonly manifest: SkillManifest
  /** What is recorded: the full OCI reference with its tag, the git address as given, or a local build's tag. */
  readonly reference: string
  /** The digest of the artifact's index (`sha256:<hex>`) or the commit (40 or 64 hex). */
  readonly digest: string
  /** The same content by digest or commit, for a lock file; absent for local builds. */
  readonly resolvedReference?: string
  /** SHA-256 over the files (see facts: path NUL raw-hash LF), `sha256:<hex>`. */
  readonly contentDigest: string
  /** Who signed it; absent: unsigned. */
  readonly signer?: SkillSigner
}
