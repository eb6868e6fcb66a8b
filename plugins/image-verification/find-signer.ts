import type { Oci } from '../oci/index.ts'
import { type Found, findSignatures } from './find-signatures.ts'
import type { SignerClaims } from './signer-claims.ts'
import { type SignedImage, type TrustRoot, type Verification, verifyCandidate } from './verify-candidate.ts'

type Verified = Extract<Verification, { ok: true }>

/** Finds the first valid signature of an image without an objection; else returns the problems of all of them. */
export async function findSigner(
  oci: Oci,
  reference: string,
  root: TrustRoot | { readonly problem: string },
  objection: (found: Verified) => string | undefined,
  signal: AbortSignal | undefined,
): Promise<{
  readonly digest: string
  readonly signer?: SignerClaims
  readonly problems: ReadonlySet<string>
  /** Whether all problems are those of signatures made with plain keys. */
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

/** Verifies one signature. Without a trust root every signature fails. */
function judge(
  found: Found,
  image: SignedImage,
  root: TrustRoot | { readonly problem: string },
): Verification {
  if ('problem' in found) return { ok: false, ...found }
  return 'problem' in root ? { ok: false, ...root } : verifyCandidate(found, image, root)
}
