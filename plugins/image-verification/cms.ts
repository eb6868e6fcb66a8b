import { X509Certificate } from 'node:crypto'
import { type Der, readDer, readMembers } from './der.ts'

/** A detached signature of one signer (Cryptographic Message Syntax, RFC 5652), as gitsign makes them. */
export interface CmsSignature {
  /** Of the signer. */
  readonly certificate: X509Certificate
  /** By which the content and the attributes were hashed. */
  readonly hash: 'sha256' | 'sha384' | 'sha512'
  /** Of the content, as the signer says. */
  readonly contentDigest: Buffer
  /** What the signature signs: attributes, the digest of the content among them. */
  readonly signedAttributes: Buffer
  readonly signature: Buffer
  /** When, as the signer says. */
  readonly signingTime: Date | undefined
}

const SEQUENCE = 0x30
const SET = 0x31
const CONTEXT_0 = 0xa0
const UTC_TIME = 0x17

const OID = {
  signedData: '2a864886f70d010702',
  data: '2a864886f70d010701',
  contentType: '2a864886f70d010903',
  messageDigest: '2a864886f70d010904',
  signingTime: '2a864886f70d010905',
}
const HASHES: Readonly<Record<string, CmsSignature['hash']>> = {
  '608648016503040201': 'sha256',
  '608648016503040202': 'sha384',
  '608648016503040203': 'sha512',
}

/** Reads a signature; nothing about it is checked. Throws for anything else, saying what. */
export function parseCms(der: Buffer): CmsSignature {
  const [type, wrapped] = readMembers(expectTag(readDer(der), SEQUENCE))
  if (hex(type) !== OID.signedData) throw new Error('it is not a signature')
  const signedData = only(readMembers(expectTag(wrapped, CONTEXT_0)), 'signature')
  const [, , content, ...parts] = readMembers(expectTag(signedData, SEQUENCE))
  if (!content || readMembers(content).length !== 1) throw new Error('it is not detached')
  const certificates = parts.find(({ tag }) => tag === CONTEXT_0)
  const signer = only(readMembers(expectTag(parts.at(-1), SET)), 'signer')
  return readSigner(signer, certificates ? readMembers(certificates) : [])
}

/** `SignerInfo` (RFC 5652 section 5.3), of a signer named by issuer and serial number. */
function readSigner(signer: Der, certificates: readonly Der[]): CmsSignature {
  const [, id, digestAlgorithm, attributes, , signature] = readMembers(expectTag(signer, SEQUENCE))
  const [, serial] = readMembers(expectTag(id, SEQUENCE))
  const hash = HASHES[hex(readMembers(expectTag(digestAlgorithm, SEQUENCE))[0])]
  if (!hash) throw new Error('it is made with a hash that is not known')
  const certificate = certificates
    .map(({ whole }) => new X509Certificate(whole))
    .find(({ serialNumber }) => sameNumber(serialNumber, hex(serial)))
  if (!certificate) throw new Error('it has no certificate')
  const signed = expectTag(attributes, CONTEXT_0)
  const [contentType] = valuesOf(signed, OID.contentType)
  const [messageDigest] = valuesOf(signed, OID.messageDigest)
  const [time] = valuesOf(signed, OID.signingTime)
  if (hex(contentType) !== OID.data || !messageDigest || !signature) throw new Error('it is not complete')
  // What is signed is the set itself, not its place in the message (RFC 5652 section 5.4).
  const signedAttributes = Buffer.concat([Buffer.from([SET]), signed.whole.subarray(1)])
  return {
    certificate,
    hash,
    contentDigest: messageDigest.content,
    signedAttributes,
    signature: signature.content,
    signingTime: time && readTime(time),
  }
}

function valuesOf(attributes: Der, oid: string): readonly Der[] {
  const found = readMembers(attributes).filter(attribute => hex(readMembers(attribute)[0]) === oid)
  if (found.length > 1) throw new Error('it says something twice')
  const values = found[0] && readMembers(found[0])[1]
  return values ? readMembers(values) : []
}

/** RFC 5280 section 4.1.2.5: years of two digits belong to 1950–2049. */
function readTime({ tag, content }: Der): Date {
  const text = content.toString('latin1')
  const whole = tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(whole) ?? []
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(time.getTime())) throw new Error('its time cannot be read')
  return time
}

const hex = (der: Der | undefined): string => der?.content.toString('hex') ?? ''

const sameNumber = (a: string, b: string): boolean =>
  /^[0-9a-f]+$/i.test(b) && BigInt(`0x${a}`) === BigInt(`0x${b}`)

function expectTag(der: Der | undefined, tag: number): Der {
  if (der?.tag !== tag) throw new Error('it is not built as it should be')
  return der
}

function only(members: readonly Der[], what: string): Der {
  const [one, ...more] = members
  if (!one || more.length) throw new Error(`it has ${one ? 'more than one' : 'no'} ${what}`)
  return one
}
