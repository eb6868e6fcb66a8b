import { createHash, generateKeyPairSync, type KeyObject, randomInt, sign } from 'node:crypto'
import {
  fulcioHandler,
  initializeCA,
  initializeCTLog,
  initializeTLog,
  initializeTSA,
  rekorHandler,
} from '@sigstore/mock'
import { HashAlgorithm, PublicKeyDetails, TrustedRoot } from '@sigstore/protobuf-specs'

/** Who signs, in the words of a certificate. */
export interface SignerFacts {
  identity: string
  issuer: string
  repository?: string
  ref?: string
  runner?: string
}

/** What of the evidence is there; all of it unless told. */
export interface Evidence {
  /** An entry of the transparency log. */
  log?: boolean
  /** A timestamp of the authority. */
  timestamp?: boolean
  /** A receipt of the certificate log. */
  receipt?: boolean
  /** When the certificate was made; it is valid for ten minutes. */
  certifiedAt?: Date
}

export interface Statement {
  predicateType?: string
  predicate?: unknown
  /** Instead of the image's own digest. */
  digest?: string
}

/** A Sigstore of the test's own: authority, logs, timestamps, and the trust root that believes them. */
export interface TestSigstore {
  /** As JSON. */
  readonly trustRoot: unknown
  /** An attestation of an image, as a bundle. */
  attest(digest: string, signer: SignerFacts, statement?: Statement, evidence?: Evidence): Promise<Bundle>
  /** A plain signature of some bytes, as a bundle. */
  sign(bytes: Buffer, signer: SignerFacts, evidence?: Evidence): Promise<Bundle>
  /** A certificate for a key, as base64 of DER. */
  certify(publicKey: KeyObject, signer: SignerFacts, evidence?: Evidence): Promise<string>
  /** A layer as cosign writes them: a payload that names the digest, and annotations. */
  cosignLayer(digest: string, signer: SignerFacts, evidence?: Evidence): Promise<CosignLayer>
  /** What answers the requests of somebody who signs: the authority and the log. */
  readonly handlers: readonly Handler[]
}

interface Handler {
  readonly path: string
  fn(body: string): Promise<{ statusCode: number; response: string | ArrayBufferView; contentType?: string }>
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into it to break it
export type Bundle = Record<string, any>

export interface CosignLayer {
  readonly payload: Buffer
  readonly annotations: Record<string, string>
}

/** An answer of Rekor's API, as far as it is used here. */
interface LogEntry {
  body: string
  integratedTime: number
  logID: string
  logIndex: number
  verification?: {
    signedEntryTimestamp: string
    inclusionProof?: { logIndex: number; rootHash: string; treeSize: number; checkpoint: string }
  }
}

export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com'
const LOG_URL = 'https://rekor.sigstore.dev'
const OID = '1.3.6.1.4.1.57264.1'
const IN_TOTO = 'application/vnd.in-toto+json'

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const base64 = (bytes: ArrayBufferView) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

export async function testSigstore(): Promise<TestSigstore> {
  const caKeys = keyPair()
  const ctLog = await initializeCTLog(keyPair())
  const ca = await initializeCA(caKeys, ctLog)
  const tlog = await initializeTLog(LOG_URL, keyPair())
  // Set to whole seconds before each use: the verifier does not read the mock's fractions of a second.
  const clock = new Date()
  const tsa = await initializeTSA(keyPair(), clock)

  async function certify(publicKey: KeyObject, signer: SignerFacts, evidence: Evidence): Promise<string> {
    const { receipt = true, certifiedAt } = evidence
    const issuing =
      receipt && !certifiedAt ? ca : await initializeCA(caKeys, receipt ? ctLog : undefined, certifiedAt)
    const extensions = [
      { oid: `${OID}.8`, value: signer.issuer },
      ...(signer.runner ? [{ oid: `${OID}.11`, value: signer.runner }] : []),
      ...(signer.repository ? [{ oid: `${OID}.12`, value: signer.repository }] : []),
      ...(signer.ref ? [{ oid: `${OID}.14`, value: signer.ref }] : []),
    ]
    const der = publicKey.export({ format: 'der', type: 'spki' })
    const certificate = await issuing.issueCertificate({
      publicKey: der,
      subjectAltName: signer.identity,
      extensions,
    })
    return base64(certificate)
  }

  async function logEntry(entry: { kind: string; apiVersion: string; spec: unknown }) {
    const [logged] = Object.values((await tlog.log(entry)) as Record<string, LogEntry>)
    if (!logged?.verification?.inclusionProof) throw new Error('the log gives a proof')
    const { inclusionProof, signedEntryTimestamp } = logged.verification
    return {
      raw: logged,
      entry: {
        logIndex: String(logged.logIndex),
        logId: { keyId: Buffer.from(logged.logID, 'hex').toString('base64') },
        kindVersion: { kind: entry.kind, version: entry.apiVersion },
        integratedTime: String(logged.integratedTime),
        inclusionPromise: { signedEntryTimestamp },
        inclusionProof: {
          logIndex: String(inclusionProof.logIndex),
          rootHash: Buffer.from(inclusionProof.rootHash, 'hex').toString('base64'),
          treeSize: String(inclusionProof.treeSize),
          hashes: [],
          checkpoint: { envelope: inclusionProof.checkpoint },
        },
        canonicalizedBody: String(logged.body),
      },
    }
  }

  async function stamp(signature: Buffer): Promise<string> {
    clock.setTime(Math.floor(Date.now() / 1000) * 1000)
    return base64(
      await tsa.timestamp({
        artifactHash: sha256(signature),
        hashAlgorithmOID: '2.16.840.1.101.3.4.2.1',
        nonce: randomInt(1_000_000),
        policyOID: '1.3.6.1.4.1.57264.2',
        certReq: true,
      }),
    )
  }

  async function material(
    keys: { publicKey: KeyObject },
    signature: Buffer,
    signer: SignerFacts,
    evidence: Evidence,
    entry: { kind: string; apiVersion: string; spec: unknown },
  ) {
    const { log = true, timestamp = true } = evidence
    // First, as in life: what is logged a second before its certificate begins is not valid.
    const rawBytes = await certify(keys.publicKey, signer, evidence)
    // The log's promise counts as a time as well; entries of a bundle 0.3 may do without it.
    const logged = log ? (await logEntry(entry)).entry : undefined
    return {
      certificate: { rawBytes },
      tlogEntries: logged ? [timestamp ? logged : { ...logged, inclusionPromise: undefined }] : [],
      timestampVerificationData: {
        rfc3161Timestamps: timestamp ? [{ signedTimestamp: await stamp(signature) }] : [],
      },
    }
  }

  const hashedRekord = (bytes: Buffer, signature: Buffer) => ({
    kind: 'hashedrekord',
    apiVersion: '0.0.1',
    spec: {
      data: { hash: { algorithm: 'sha256', value: sha256(bytes).toString('hex') } },
      signature: { content: signature.toString('base64'), publicKey: { content: '' } },
    },
  })

  return {
    handlers: [fulcioHandler(ca), rekorHandler(tlog)],

    trustRoot: TrustedRoot.toJSON({
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      certificateAuthorities: [authority('https://fulcio.sigstore.dev', [ca.rootCertificate])],
      timestampAuthorities: [
        authority('https://timestamp.sigstore.dev', [tsa.intCertificate, tsa.rootCertificate]),
      ],
      tlogs: [log(LOG_URL, tlog.publicKey, sha256(tlog.publicKey))],
      ctlogs: [log('https://ctfe.sigstore.dev', ctLog.publicKey, Buffer.from(base64(ctLog.logID), 'base64'))],
    }),

    certify: (publicKey, signer, evidence = {}) => certify(publicKey, signer, evidence),

    async attest(digest, signer, statement = {}, evidence = {}) {
      const [algorithm = '', hex = ''] = (statement.digest ?? digest).split(':')
      const payload = Buffer.from(
        JSON.stringify({
          _type: 'https://in-toto.io/Statement/v1',
          subject: [{ name: 'image', digest: { [algorithm]: hex } }],
          predicateType: statement.predicateType ?? 'https://sigstore.dev/cosign/sign/v1',
          predicate: statement.predicate ?? {},
        }),
      )
      const keys = keyPair()
      const pae = Buffer.concat([
        Buffer.from(`DSSEv1 ${IN_TOTO.length} ${IN_TOTO} ${payload.length} `),
        payload,
      ])
      const signature = sign('sha256', pae, keys.privateKey)
      const entry = {
        kind: 'dsse',
        apiVersion: '0.0.1',
        spec: {
          payloadHash: { algorithm: 'sha256', value: sha256(payload).toString('hex') },
          signatures: [{ signature: signature.toString('base64'), verifier: '' }],
        },
      }
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: await material(keys, signature, signer, evidence, entry),
        dsseEnvelope: {
          payload: payload.toString('base64'),
          payloadType: IN_TOTO,
          signatures: [{ sig: signature.toString('base64'), keyid: '' }],
        },
      }
    },

    async sign(bytes, signer, evidence = {}) {
      const keys = keyPair()
      const signature = sign('sha256', bytes, keys.privateKey)
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: await material(
          keys,
          signature,
          signer,
          evidence,
          hashedRekord(bytes, signature),
        ),
        messageSignature: {
          messageDigest: { algorithm: 'SHA2_256', digest: sha256(bytes).toString('base64') },
          signature: signature.toString('base64'),
        },
      }
    },

    async cosignLayer(digest, signer, evidence = {}) {
      const payload = Buffer.from(
        JSON.stringify({
          critical: {
            identity: { 'docker-reference': 'example.com/image' },
            image: { 'docker-manifest-digest': digest },
            type: 'cosign container image signature',
          },
          optional: null,
        }),
      )
      const keys = keyPair()
      const signature = sign('sha256', payload, keys.privateKey)
      const certificate = await certify(keys.publicKey, signer, evidence)
      const { raw } = await logEntry(hashedRekord(payload, signature))
      const bundle = {
        SignedEntryTimestamp: raw.verification?.signedEntryTimestamp,
        Payload: {
          body: raw.body,
          integratedTime: raw.integratedTime,
          logIndex: raw.logIndex,
          logID: raw.logID,
        },
      }
      return {
        payload,
        annotations: {
          'dev.cosignproject.cosign/signature': signature.toString('base64'),
          'dev.sigstore.cosign/certificate': `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
          ...(evidence.log === false ? {} : { 'dev.sigstore.cosign/bundle': JSON.stringify(bundle) }),
        },
      }
    },
  }
}

const SINCE = { start: new Date('2000-01-01'), end: undefined }

function authority(uri: string, chain: ArrayBufferView[]) {
  return {
    subject: { organization: 'test', commonName: 'test' },
    uri,
    certChain: { certificates: chain.map(bytes => ({ rawBytes: Buffer.from(base64(bytes), 'base64') })) },
    validFor: SINCE,
    operator: 'test',
  }
}

function log(baseUrl: string, publicKey: Buffer, keyId: Buffer) {
  return {
    baseUrl,
    hashAlgorithm: HashAlgorithm.SHA2_256,
    publicKey: {
      rawBytes: publicKey,
      keyDetails: PublicKeyDetails.PKIX_ECDSA_P256_SHA_256,
      validFor: SINCE,
    },
    logId: { keyId },
    checkpointKeyId: undefined,
    operator: 'test',
  }
}
