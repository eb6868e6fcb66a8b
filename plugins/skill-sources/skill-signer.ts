import { isFailure } from '../../src/errors.ts'
import type { ImageVerification, SignerClaims } from '../image-verification/index.ts'
import { failures } from './failures.ts'
import type { SkillSigner } from './fetched-skill.ts'
import { findSignature } from './git/commit-signature.ts'

/** Who signed an artifact, by digest; undefined: nobody. Fails with `skill_signature_invalid`. */
export async function signerOfArtifact(
  verification: Pick<ImageVerification, 'signer'>,
  reference: string,
  signal: AbortSignal,
): Promise<SkillSigner | undefined> {
  try {
    const claims = await verification.signer(reference, { signal })
    return claims && toSigner(claims, reference)
  } catch (error) {
    if (!isFailure(error, 'image_unverified')) throw error
    const { reason } = error.details as { reason: string }
    throw failures.skill_signature_invalid({ reference, problem: reason }, { cause: error })
  }
}

/** Who signed a commit; undefined: nobody, or only with a key. Fails with `skill_signature_invalid`. */
export async function signerOfCommit(
  verification: Pick<ImageVerification, 'detachedSigner'>,
  reference: string,
  commit: Buffer,
): Promise<SkillSigner | undefined> {
  const found = findSignature(commit)
  if (found?.kind !== 'cms') return undefined
  const result = await verification.detachedSigner(found.signature, found.content)
  if (!result.ok) throw failures.skill_signature_invalid({ reference, problem: result.problem })
  // No log has seen it: whoever had the key after its ten minutes could say it was before.
  return { ...toSigner(result.claims, reference), provisional: true }
}

/**
 * What a certificate does not say is left out. A name without the login that knows it, or the other way
 * round, is no signer. Fails with `skill_signature_invalid`.
 */
function toSigner(claims: SignerClaims, reference: string): SkillSigner {
  const { identity, issuer, repositoryUri, repositoryRef, runnerEnvironment } = claims
  if (!identity || !issuer) {
    throw failures.skill_signature_invalid({ reference, problem: 'its certificate names no signer' })
  }
  return {
    signerIdentity: identity,
    certIssuer: issuer,
    ...(repositoryUri ? { repositoryUri } : {}),
    ...(repositoryRef ? { repositoryRef } : {}),
    ...(runnerEnvironment ? { runnerEnvironment } : {}),
  }
}
