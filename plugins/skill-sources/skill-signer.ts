import { isFailure } from '../../src/errors.ts'
import type { ImageVerification, SignerClaims } from '../image-verification/index.ts'
import { failures } from './failures.ts'
import type { SkillSigner } from './fetched-skill.ts'
import { findSignature } from './git/commit-signature.ts'

/** Returns the signer of the artifact with a digest; undefined when unsigned. Fails with `skill_signature_invalid`. */
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

/** Returns the signer of a commit; undefined when unsigned or signed by a bare key. Fails with `skill_signature_invalid`. */
export async function signerOfCommit(
  verification: Pick<ImageVerification, 'detachedSigner'>,
  reference: string,
  commit: Buffer,
): Promise<SkillSigner | undefined> {
  const found = findSignature(commit)
  if (found?.kind !== 'cms') return undefined
  const result = await verification.detachedSigner(found.signature, found.content)
  if (!result.ok) throw failures.skill_signature_invalid({ reference, problem: result.problem })
  // No transparency log proves the time: a holder of the key could sign after the ten minutes and claim an earlier time.
  return { ...toSigner(result.claims, reference), provisional: true }
}

/**
 * Returns the signer that a certificate names, without the members that it lacks. A signer needs both a
 * subject and the issuer of the login. Fails with `skill_signature_invalid`.
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
