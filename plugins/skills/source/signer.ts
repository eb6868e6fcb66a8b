import { isFailure } from '../../../src/errors.ts'
import type { ImageVerification, SignerClaims } from '../../image-verification/index.ts'
import type { SkillSigner } from '../skill.ts'
import { failures } from './failures.ts'

/** Who signed an artifact, by digest; undefined: nobody. Fails with `skill_signature_invalid`. */
export async function signerOfArtifact(
  verification: Pick<ImageVerification, 'signer'>,
  reference: string,
  signal: AbortSignal,
): Promise<SkillSigner | undefined> {
  try {
    const claims = await verification.signer(reference, { signal })
    return claims && toSigner(claims)
  } catch (error) {
    if (!isFailure(error, 'image_unverified')) throw error
    const { reason } = error.details as { reason: string }
    throw failures.skill_signature_invalid({ reference, problem: reason }, { cause: error })
  }
}

/** What a certificate does not say is left out. */
function toSigner(claims: SignerClaims): SkillSigner {
  const { identity, issuer, repositoryUri, repositoryRef, runnerEnvironment } = claims
  return {
    signerIdentity: identity,
    certIssuer: issuer,
    ...(repositoryUri ? { repositoryUri } : {}),
    ...(repositoryRef ? { repositoryRef } : {}),
    ...(runnerEnvironment ? { runnerEnvironment } : {}),
  }
}
