import type { Signer } from '@sigstore/verify'
import { readDer } from './der.ts'

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

const UTF8_STRING = 0x0c

/** A UTF8String (X.690 section 8.23) and nothing behind it. Anything else is empty. */
function readUtf8String(bytes: Uint8Array): string {
  try {
    const { tag, content, whole } = readDer(Buffer.from(bytes))
    return tag === UTF8_STRING && whole.length === bytes.length ? content.toString('utf8') : ''
  } catch {
    return ''
  }
}
