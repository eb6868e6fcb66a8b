import { isFailure, messageOf } from '../../src/errors.ts'
import { type Oci, pinReference } from '../oci/index.ts'
import { failures } from './failures.ts'
import { findSignatures } from './find-signatures.ts'
import type { VerificationMode } from './flags.ts'
import { findMismatch } from './match-provenance.ts'
import { namesSigner, type Provenance } from './provenance.ts'
import type { SignerClaims } from './signer.ts'
import type { TrustRoots } from './trust-roots.ts'
import { verifyCandidate } from './verify-candidate.ts'

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
}

export function createImageVerification({
  oci,
  trustRoots,
}: {
  oci: Oci
  trustRoots: TrustRoots
}): ImageVerification {
  async function verify(reference: string, provenance: Provenance | undefined, signal?: AbortSignal) {
    const refuse = (reason: string) => failures.image_unverified({ reference, reason })
    if (!namesSigner(provenance)) throw refuse('nothing is known of who must have signed it')
    const root = await trustRoots.find(provenance.sigstore_url)
    if ('problem' in root) throw refuse(root.problem)
    const { descriptor, bytes } = await oci.manifest(reference, { signal })
    const image = { digest: descriptor.digest, manifest: bytes }

    const problems = new Set<string>()
    for await (const found of findSignatures(oci, reference, image.digest, signal)) {
      const result =
        'problem' in found ? { ok: false as const, ...found } : verifyCandidate(found, image, root)
      const mismatch = result.ok ? findMismatch(provenance, result.claims, result.statement) : result.problem
      if (result.ok && mismatch === undefined) return { digest: image.digest, signer: result.claims }
      if (mismatch) problems.add(mismatch)
    }
    throw refuse(problems.size ? [...problems].slice(0, 3).join('; ') : 'it has no signature')
  }

  return {
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
  }
}
