import type { Signer } from '@sigstore/verify'

/** Who signed, as the certificate says (Fulcio's certificate extensions, 1.3.6.1.4.1.57264.1). */
export interface SignerClaims {
  /** The subject alternative name: an e-mail address, or the URL of a workflow. */
  readonly identity: string
  readonly issuer: string
  readonly repositoryUri: string
  readonly repositoryRef: string
  readonly runnerEnvironment: string
}

const OIDS = {
  runnerEnvironment: '1.3.6.1.4.1.57264.1.11',
  repositoryUri: '1.3.6.1.4.1.57264.1.12',
  repositoryRef: '1.3.6.1.4.1.57264.1.14',
}

/** Reads the claims of a signer; what the certificate does not say is empty. */
export function toClaims({ identity }: Signer): SignerClaims {
  const claim = (oid: string): string => {
    const found = identity?.oids?.find(({ oid: id }) => id?.id.join('.') === oid)
    return found ? readUtf8String(found.value) : ''
  }
  return {
    identity: identity?.subjectAlternativeName ?? '',
    issuer: identity?.extensions?.issuer ?? '',
    repositoryUri: claim(OIDS.repositoryUri),
    repositoryRef: claim(OIDS.repositoryRef),
    runnerEnvironment: claim(OIDS.runnerEnvironment),
  }
}

/** A DER UTF8String (X.690 section 8.23): tag 12, a length, the text. Anything else is empty. */
function readUtf8String(der: Uint8Array): string {
  const bytes = Buffer.from(der)
  if (bytes[0] !== 0x0c) return ''
  const first = bytes[1] ?? 0
  const lengthBytes = first & 0x80 ? first & 0x7f : 0
  if (lengthBytes > 2 || bytes.length < 2 + lengthBytes) return ''
  const length = lengthBytes ? bytes.readUIntBE(2, lengthBytes) : first
  const text = bytes.subarray(2 + lengthBytes)
  return text.length === length ? text.toString('utf8') : ''
}
