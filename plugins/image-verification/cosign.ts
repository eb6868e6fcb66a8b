import { createHash } from 'node:crypto'
import type { Descriptor } from '../oci/index.ts'

/** Layers of the manifests under cosign's tags. */
export const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json'
export const DSSE_ENVELOPE = 'application/vnd.dsse.envelope.v1+json'

/** The annotation that has the signer's certificate; signatures made with a plain key have none. */
export const CERTIFICATE = 'dev.sigstore.cosign/certificate'

/** What cosign writes beside a signature, as annotations of its layer. */
const NAMES = {
  // This one has a different prefix than the rest.
  signature: 'dev.cosignproject.cosign/signature',
  log: 'dev.sigstore.cosign/bundle',
  timestamp: 'dev.sigstore.cosign/rfc3161timestamp',
}

/**
 * Writes a layer of cosign's as a Sigstore bundle (version 0.1: later ones want proofs that cosign's
 * annotations do not hold). Throws when something is missing; whether it is true is for the verifier.
 */
export function toBundle({ annotations = {}, mediaType }: Descriptor, content: Buffer): unknown {
  const certificate = annotations[CERTIFICATE]
  if (!certificate) throw new Error('it has no certificate')
  const log = annotations[NAMES.log]
  const timestamp = annotations[NAMES.timestamp]
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: firstCertificate(certificate) }] },
      tlogEntries: log ? [toLogEntry(log)] : [],
      ...(timestamp ? { timestampVerificationData: toTimestamps(timestamp) } : {}),
    },
    ...(mediaType === DSSE_ENVELOPE
      ? { dsseEnvelope: parseObject(content.toString('utf8')) }
      : { messageSignature: toMessageSignature(annotations[NAMES.signature], content) }),
  }
}

/** The image digest that a signed payload names (cosign's signature specification, "Simple Signing"). */
export function signedDigest(payload: Buffer): string | undefined {
  const { critical } = parseObject(payload.toString('utf8'))
  const image = isObject(critical) && critical.image
  const digest = isObject(image) && image['docker-manifest-digest']
  return typeof digest === 'string' ? digest : undefined
}

function toMessageSignature(signature: string | undefined, content: Buffer): unknown {
  if (!signature) throw new Error('it has no signature')
  const hash = createHash('sha256').update(content).digest('base64')
  return { messageDigest: { algorithm: 'SHA2_256', digest: hash }, signature }
}

/** An entry of the Rekor log with the log's promise to include it. */
function toLogEntry(text: string): unknown {
  const { SignedEntryTimestamp, Payload } = parseObject(text)
  if (!isObject(Payload)) throw new Error('its log entry cannot be read')
  const { kind, apiVersion } = parseObject(Buffer.from(String(Payload.body), 'base64').toString('utf8'))
  return {
    logIndex: String(Payload.logIndex),
    logId: { keyId: Buffer.from(String(Payload.logID), 'hex').toString('base64') },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(Payload.integratedTime),
    inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
    canonicalizedBody: Payload.body,
  }
}

function toTimestamps(text: string): unknown {
  return { rfc3161Timestamps: [{ signedTimestamp: parseObject(text).SignedRFC3161Timestamp }] }
}

function firstCertificate(pem: string): string {
  const found = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/.exec(pem)?.[1]
  if (!found) throw new Error('its certificate cannot be read')
  return found.replace(/\s+/g, '')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new Error('it is not a JSON object')
  return value
}
