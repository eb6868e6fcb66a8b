/**
 * One value in the distinguished encoding of ASN.1 (X.690 section 10).
 *
 * Ours because `@sigstore/core` drops the bytes as they came, and a signature holds only for those bytes.
 */
export interface Der {
  readonly tag: number
  readonly content: Buffer
  /** With its tag and length. */
  readonly whole: Buffer
}

/** Reads the value at the start of some bytes. Throws for what is cut off, or of no fixed length. */
export function readDer(bytes: Buffer): Der {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new Error('it is not DER')
  const lengthBytes = first & 0x80 ? first & 0x7f : 0
  if (first === 0x80 || lengthBytes > 4 || bytes.length < 2 + lengthBytes) throw new Error('it is not DER')
  const length = lengthBytes ? bytes.readUIntBE(2, lengthBytes) : first
  const end = 2 + lengthBytes + length
  if (end > bytes.length) throw new Error('it is cut off')
  return { tag, content: bytes.subarray(2 + lengthBytes, end), whole: bytes.subarray(0, end) }
}

/** The values inside a value. */
export function readMembers({ content }: Der): Der[] {
  const members: Der[] = []
  for (let rest = content; rest.length > 0; ) {
    const member = readDer(rest)
    members.push(member)
    rest = rest.subarray(member.whole.length)
  }
  return members
}
