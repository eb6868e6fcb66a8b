import { createHash, verify } from 'node:crypto'
import { toMessageSignatureBundle } from '@sigstore/bundle'
import { type SignedEntity, toSignedEntity, Verifier } from '@sigstore/verify'
import { type CmsSignature, parseCms } from './cms.ts'
import { toClaims } from './signer-claims.ts'
import type { TrustRoot, Verification } from './verify-candidate.ts'

/**
 * Checks a detached signature of some bytes: the signature, that the certificate comes from the trusted
 * authority, and the receipt of the certificate log. No log confirms the time; the time that the signer
 * states must lie within the ten minutes of the certificate. So it proves less than a bundle.
 */
export function verifyDetached(
  signature: Buffer,
  content: Buffer,
  { material, isGithub }: TrustRoot,
): Verification {
  try {
    const cms = parseCms(signature)
    const digest = createHash(cms.hash).update(content).digest()
    if (!digest.equals(cms.contentDigest)) return { ok: false, problem: 'a signature is for something else' }
    const thresholds = { ctlogThreshold: isGithub ? 0 : 1, tlogThreshold: 0, timestampThreshold: 1 }
    return { ok: true, claims: toClaims(new Verifier(material, thresholds).verify(toEntity(cms))) }
  } catch (error) {
    const text = error instanceof Error ? error.message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200) : 'failed'
    return { ok: false, problem: `a signature does not hold (${text})` }
  }
}

type TransparencyLogEntry = SignedEntity['tlogEntries'][number]

/** The library knows bundles: it reads the certificate of one, and is given our signature to check. */
function toEntity({
  contentDigest,
  certificate,
  hash,
  signature,
  signedAttributes,
  signingTime,
}: CmsSignature): SignedEntity {
  const bundle = toMessageSignatureBundle({ digest: contentDigest, signature, certificate: certificate.raw })
  const { key } = toSignedEntity(bundle, signedAttributes)
  return {
    key,
    tlogEntries: [],
    timestamps: [
      { $case: 'transparency-log', tlogEntry: claimedTime(signingTime ?? new Date(certificate.validFrom)) },
    ],
    signature: {
      signature,
      compareSignature: other => other.equals(signature),
      compareDigest: () => false,
      compareSignedDigest: () => false,
      verifySignature: publicKey => verify(hash, signedAttributes, publicKey, signature),
    },
  }
}

/** A time as the library takes it; the entry is in no log, and is not looked up in any. */
const claimedTime = (time: Date): TransparencyLogEntry => ({
  integratedTime: String(Math.floor(time.getTime() / 1000)),
  inclusionPromise: { signedEntryTimestamp: Buffer.alloc(0) },
  inclusionProof: undefined,
  logId: { keyId: Buffer.alloc(0) },
  logIndex: '0',
  kindVersion: { kind: '', version: '' },
  canonicalizedBody: Buffer.alloc(0),
})
