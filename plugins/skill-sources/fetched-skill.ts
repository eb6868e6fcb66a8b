import { bool, object, optional, type TypeOf, text } from '../../src/lib/schema.ts'
import type { SkillManifest } from '../skill-artifacts/index.ts'

/** The signer of a skill and the place where it was built, as lock files, records and the API hold them. */
export const skillSigner = object({
  /** The certificate's subject: the URL of a workflow, or an e-mail address. */
  signerIdentity: text,
  certIssuer: text,
  repositoryUri: optional(text),
  repositoryRef: optional(text),
  runnerEnvironment: optional(text),
  sigstoreUrl: optional(text),
  /** Proven by a certificate chain alone, without a transparency log (signed git commits). */
  provisional: optional(bool),
})

export type SkillSigner = Readonly<TypeOf<typeof skillSigner>>

/** A fetched and checked skill in a staging folder. It consists of regular files, and is not installed. */
export interface FetchedSkill {
  /** The folder that holds SKILL.md. The caller removes the staging folder when it is done. */
  readonly folder: string
  readonly manifest: SkillManifest
  /** The reference to record: a full OCI reference with its tag, the Git reference as given, or the tag of a local build. */
  readonly reference: string
  /** The digest of the artifact's index (`sha256:<hex>`) or the commit (40 or 64 hex). */
  readonly digest: string
  /** The same content by digest or commit, for a lock file; absent for local builds. */
  readonly resolvedReference?: string
  /** The SHA-256 of the files, `sha256:<hex>`. See `contentDigest` of skill-artifacts. */
  readonly contentDigest: string
  /** The signer; absent for an unsigned skill. */
  readonly signer?: SkillSigner
}
