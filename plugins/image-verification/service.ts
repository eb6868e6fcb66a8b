import { isFailure, messageOf } from '../../src/errors.ts'
import { type Oci, pinReference } from '../oci/index.ts'
import { failures } from './failures.ts'
import { type Found, findSignatures } from './find-signatures.ts'
import type { VerificationMode } from './flags.ts'
import { findMismatch } from './match-provenance.ts'
import { issuerOf, namesSigner, type Provenance } from './provenance.ts'
import { describeSigner, isSameSigner, toImageSigner } from './same-signer.ts'
import type { ImageSigner } from './section.ts'
import type { SignerClaims } from './signer-claims.ts'
import type { TrustRoots } from './trust-roots.ts'
import { type SignedImage, type TrustRoot, type Verification, verifyCandidate } from './verify-candidate.ts'
import { verifyDetached } from './verify-detached.ts'

type Verified = Extract<Verification, { ok: true }>

/** Whether an image may run, and which one exactly. */
export interface Verdict {
  /** What to pull and run: by digest when verified, so that nothing can change in between; else as it was given. */
  readonly reference: string
  readonly verified: boolean
  /** Who signed; only when verified. */
  readonly signer?: SignerClaims
  /** For the user, when it may run all the same. */
  readonly warnings: readonly string[]
}

/** What the user accepts although the workload had more. */
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
   * Compares the image's signatures with what a registry entry says of its makers. `enabled` fails
   * with `image_unverified` unless one fits; `warn` says so; `disabled` does not look.
   */
  check(
    reference: string,
    provenance: Provenance | undefined,
    mode: VerificationMode,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Verdict>
  /**
   * `check`, for a workload: what it ran before tells who must have made this. Fails with `signer_changed`
   * or `signature_lost` in every mode, unless that is accepted.
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
   * Who signed what a reference with a digest names, whoever that is: for those who trust whom they
   * meet first, and then nobody else. Undefined: nobody did, or only with a plain key. Fails with `image_unverified` when there
   * are signatures of which none holds, or when they cannot be looked up.
   */
  signer(reference: string, options?: { signal?: AbortSignal | undefined }): Promise<SignerClaims | undefined>
  /** Who made a detached signature (CMS, as gitsign makes them) of some bytes; see `verifyDetached`. */
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

  /** The first signature that holds and that nobody objects to; else all that was wrong with them. */
  async function findSigner(
    reference: string,
    root: TrustRoot | { readonly problem: string },
    objection: (found: Verified) => string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{
    readonly digest: string
    readonly signer?: SignerClaims
    readonly problems: ReadonlySet<string>
    /** Whether the problems are all of signatures made with plain keys. */
    readonly onlyKeys: boolean
  }> {
    const { descriptor, bytes } = await oci.manifest(reference, { signal })
    const image = { digest: descriptor.digest, manifest: bytes }

    const problems = new Set<string>()
    let onlyKeys = true
    for await (const found of findSignatures(oci, reference, image.digest, signal)) {
      const result = judge(found, image, root)
      const problem = result.ok ? objection(result) : result.problem
      if (result.ok && problem === undefined) return { ...image, signer: result.claims, problems, onlyKeys }
      if (problem) problems.add(problem)
      if (!('byKey' in found)) onlyKeys = false
    }
    return { ...image, problems, onlyKeys }
  }

  const tell = (problems: ReadonlySet<string>): string => [...problems].slice(0, 3).join('; ')

  async function verify(reference: string, provenance: Provenance | undefined, signal?: AbortSignal) {
    if (!namesSigner(provenance)) throw refuse(reference, 'nothing is known of who must have signed it')
    if (issuerOf(provenance) === undefined) {
      throw refuse(reference, 'its entry does not say which login knows the signer (cert_issuer)')
    }
    const root = await trustRoots.find(provenance.sigstore_url)
    if ('problem' in root) throw refuse(reference, root.problem)
    const { digest, signer, problems } = await findSigner(
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
      const found = await findSigner(reference, root, () => undefined, signal)
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

/** Verifies one signature. Without a valid trust root none counts. */
function judge(
  found: Found,
  image: SignedImage,
  root: TrustRoot | { readonly problem: string },
): Verification {
  if ('problem' in found) return { ok: false, ...found }
  return 'problem' in root ? { ok: false, ...root } : verifyCandidate(found, image, root)
}
