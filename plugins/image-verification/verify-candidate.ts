import { bundleFromJSON } from '@sigstore/bundle'
import { type TrustMaterial, toSignedEntity, Verifier } from '@sigstore/verify'
import { signedDigest } from './cosign.ts'
import type { Candidate } from './find-signatures.ts'
import { type SignerClaims, toClaims } from './signer-claims.ts'
import { isAbout, parseStatement, STATEMENT_TYPE, type Statement } from './statement.ts'

/** Keys and certificates that are trusted, and how much evidence they must give. */
export interface TrustRoot {
  readonly material: TrustMaterial
  /** GitHub's own Sigstore has no public logs, only timestamps. */
  readonly isGithub: boolean
}

/** The image: its digest, and the bytes that have it. */
export interface SignedImage {
  readonly digest: string
  readonly manifest: Buffer
}

export type Verification =
  | { readonly ok: true; readonly claims: SignerClaims; readonly statement?: Statement }
  | { readonly ok: false; readonly problem: string }

/**
 * Checks one candidate: the signature, the certificate at the time of signing, the logs, and that
 * it is this image which was signed. Returns who signed; the caller judges that.
 */
export function verifyCandidate(
  { bundle: json, payload }: Candidate,
  image: SignedImage,
  { material, isGithub }: TrustRoot,
): Verification {
  const thresholds = isGithub
    ? { ctlogThreshold: 0, tlogThreshold: 0 }
    : { ctlogThreshold: 1, tlogThreshold: 1 }
  const verifier = new Verifier(material, { ...thresholds, timestampThreshold: 1 })
  try {
    const bundle = bundleFromJSON(json)
    const claims = toClaims(verifier.verify(toSignedEntity(bundle, payload ?? image.manifest)))
    if (bundle.content.$case === 'messageSignature') {
      // Without a payload of its own the image's manifest is what was signed, and it has the digest.
      const digest = payload ? signedDigest(payload) : image.digest
      return digest === image.digest ? { ok: true, claims } : other
    }
    const { payloadType, payload: content } = bundle.content.dsseEnvelope
    const statement = payloadType === STATEMENT_TYPE ? parseStatement(content) : undefined
    if (!statement) return { ok: false, problem: 'what is signed is not a statement about an image' }
    return isAbout(statement, image.digest) ? { ok: true, claims, statement } : other
  } catch (error) {
    // The libraries throw errors of many kinds for malformed documents.
    const text = error instanceof Error ? error.message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200) : 'failed'
    return { ok: false, problem: `a signature does not hold (${text})` }
  }
}

const other: Verification = { ok: false, problem: 'a signature is for another image' }
