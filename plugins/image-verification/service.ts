import { isFailure, messageOf } from '../../src/errors.ts'
import { type Oci, pinReference } from '../oci/index.ts'
import { failures } from './failures.ts'
import { findSigner } from './find-signer.ts'
import type { VerificationMode } from './flags.ts'
import { findMismatch } from './match-provenance.ts'
import { issuerOf, namesSigner, type Provenance } from './provenance.ts'
import { describeSigner, isSameSigner, toImageSigner } from './same-signer.ts'
import type { ImageSigner } from './section.ts'
import type { SignerClaims } from './signer-claims.ts'
import type { TrustRoots } from './trust-roots.ts'
import type { Verification } from './verify-candidate.ts'
import { verifyDetached } from './verify-detached.ts'

/** Whether an image may run, and which one exactly. */
export interface Verdict {
  /** The reference to pull and run: by digest when verified, so that it cannot change meanwhile; else as given. */
  readonly reference: string
  readonly verified: boolean
  /** The signer; only when verified. */
  readonly signer?: SignerClaims
  /** Messages for the user about an image that may run although it is not verified. */
  readonly warnings: readonly string[]
}

/** Losses against the workload's previous image that the user accepts. */
export interface Accepted {
  readonly changedSigner?: boolean
  readonly lessVerification?: boolean
}

/** The image to run, and what the run config remembers about it. */
export interface Admission {
  /** As in `Verdict`. */
  readonly reference: string
  readonly warnings: readonly string[]
  readonly signer?: ImageSigner
}

export interface ImageVerification {
  /**
   * Compares the image's signatures with the signer that a registry entry names. Without a matching signature
   * `enabled` fails with `image_unverified` and `warn` adds a warning. `disabled` checks nothing.
   */
  check(
    reference: string,
    provenance: Provenance | undefined,
    mode: VerificationMode,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Verdict>
  /**
   * Runs `check` for a workload, and compares the signer with that of its previous image. Fails with
   * `signer_changed` or `signature_lost` in every mode, unless that is accepted.
   */
  admit(
    reference: string,
    provenance: Provenance | undefined,
    mode: VerificationMode,
    options: {
      before: ImageSigner | undefined
      accepted?: Accepted
      signal?: AbortSignal | undefined
    },
  ): Promise<Admission>
  /**
   * Returns the signer of a reference with a digest, for callers that trust the first signer and then require
   * the same. Undefined: there is no signature, or only ones made with plain keys. Fails with `image_unverified`
   * when none of the signatures is valid, or when they cannot be looked up.
   */
  signer(reference: string, options?: { signal?: AbortSignal | undefined }): Promise<SignerClaims | undefined>
  /** Returns the signer of a detached signature (CMS, as gitsign makes them) of some bytes; see `verifyDetached`. */
  detachedSigner(signature: Buffer, content: Buffer): Promise<Verification>
}

export function createImageVerification({
  oci,
  trustRoots,
}: {
  oci: Oci
  trustRoots: TrustRoots
}): ImageVerification {
  const refuse = (reference: string, reason: string) => failures.image_unverified({ reference, reason })

  const tell = (problems: ReadonlySet<string>): string => [...problems].slice(0, 3).join('; ')

  async function verify(reference: string, provenance: Provenance | undefined, signal?: AbortSignal) {
    if (!namesSigner(provenance)) throw refuse(reference, 'nothing is known of who must have signed it')
    if (issuerOf(provenance) === undefined) {
      throw refuse(reference, 'its entry does not name the login of the signer (cert_issuer)')
    }
    const root = await trustRoots.find(provenance.sigstore_url)
    if ('problem' in root) throw refuse(reference, root.problem)
    const { digest, signer, problems } = await findSigner(
      oci,
      reference,
      root,
      ({ claims, statement }) => findMismatch(provenance, claims, statement),
      signal,
    )
    if (signer) return { digest, signer }
    throw refuse(reference, problems.size ? tell(problems) : 'it has no signature')
  }

  const service: ImageVerification = {
    async check(reference, provenance, mode, { signal } = {}) {
      const unverified = { reference, verified: false }
      if (mode === 'disabled') return { ...unverified, warnings: [] }
      try {
        const { digest, signer } = await verify(reference, provenance, signal)
        return { reference: pinReference(reference, digest), verified: true, signer, warnings: [] }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isFailure(error)) throw error
        if (mode === 'warn') return { ...unverified, warnings: [messageOf(error)] }
        if (isFailure(error, 'image_unverified')) throw error
        const reason = messageOf(error).replace(/\.$/, '')
        throw failures.image_unverified({ reference, reason }, { cause: error })
      }
    },

    async admit(reference, provenance, mode, { before, accepted = {}, signal }) {
      const verdict = await service.check(reference, provenance, mode, { signal })
      const signer = toImageSigner(provenance, verdict.signer)
      const isLess = before !== undefined && (signer === undefined || (before.verified && !signer.verified))
      if (isLess && !accepted.lessVerification) {
        const [warning] = verdict.warnings
        const reason = warning ? bare(warning, reference) : 'its signature was not checked'
        throw failures.signature_lost({ reference, before: describeSigner(before), reason })
      }
      if (before && signer && !isSameSigner(before, signer) && !accepted.changedSigner) {
        const [was, is] = [describeSigner(before), describeSigner(signer)]
        throw failures.signer_changed({ reference, before: was, after: is })
      }
      return { reference: verdict.reference, warnings: verdict.warnings, ...(signer ? { signer } : {}) }
    },

    async signer(reference, { signal } = {}) {
      const root = await trustRoots.find(undefined)
      const found = await findSigner(oci, reference, root, () => undefined, signal)
      const { signer, problems, onlyKeys } = found
      if (!signer && !onlyKeys) throw refuse(reference, tell(problems))
      return signer
    },

    async detachedSigner(signature, content) {
      const root = await trustRoots.find(undefined)
      return 'problem' in root ? { ok: false, ...root } : verifyDetached(signature, content, root)
    },
  }
  return service
}

/** Returns the reason in a warning, without the name of the image. */
const bare = (warning: string, reference: string): string =>
  warning.replace(`${reference} is not verified: `, '').replace(/\.$/, '')
