import type { SkillFile, SkillManifest } from '../skill-artifacts/index.ts'

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

/** Where skills come from: registry names, OCI artifacts, git repositories, local builds. */
export interface SkillSources {
  /**
   * Finds, fetches and checks a skill, and whose it is; the caller decides whether an unsigned one will do.
   * `reference` is what the user typed, or a `resolvedReference`, which always gets the same bytes.
   * The staging folder is made inside `staging`, and removed here when anything fails.
   * Fails with the codes of this plugin; a signature that is there and proves nothing is
   * `skill_signature_invalid`, never the same as none.
   */
  fetch(
    reference: string,
    options: {
      readonly staging: string
      /**
       * The user typed this very reference, so their token for its git host may be sent there. Never for what
       * a registry, a skill that needs another, or a lock file says.
       */
      readonly typed: boolean
      /** The tag wanted, for a reference that has none. */
      readonly version?: string | undefined
      readonly signal?: AbortSignal | undefined
      /** Told in a few words what is being done. */
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<FetchedSkill>
  /** The body and the list of files of what the user typed, the same way for every source; nothing is installed. */
  preview(
    reference: string,
    options?: {
      readonly signal?: AbortSignal | undefined
      readonly progress?: ((what: string) => void) | undefined
    },
  ): Promise<SkillContent>
}

/** What a preview shows. */
export interface SkillContent {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly license?: string
  /** SKILL.md behind its frontmatter. */
  readonly body: string
  /** Sorted by path. */
  readonly files: readonly SkillFile[]
}
