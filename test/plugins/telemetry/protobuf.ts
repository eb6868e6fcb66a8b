/** The fields of one Protobuf message by number, in the order in which they came. */
export type Fields = ReadonlyMap<number, readonly Value[]>
/** Of a varint, a fixed64, a fixed32, or bytes. */
type Value = bigint | Buffer

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5]

/** Reads the wire format (protobuf.dev, "Encoding"). Throws when the bytes are not a message. */
export function readFields(bytes: Buffer): Fields {
  const fields = new Map<number, Value[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message ends within a number')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the message ends within a field')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const type = tag & 7
    let value: Value
    if (type === VARINT) value = varint()
    else if (type === FIXED64) value = take(8)
    else if (type === BYTES) value = take(Number(varint()))
    else if (type === FIXED32) value = take(4)
    else throw new Error(`unknown wire type ${type}`)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

const first = (fields: Fields, number: number): Value | undefined => fields.get(number)?.[0]

export const bytesOf = (fields: Fields, number: number): Buffer => {
  const value = first(fields, number)
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}
export const textOf = (fields: Fields, number: number): string => bytesOf(fields, number).toString('utf8')
export const numberOf = (fields: Fields, number: number): number => {
  const value = first(fields, number)
  return Buffer.isBuffer(value) ? Number(value.readBigInt64LE()) : Number(value ?? 0)
}
export const doubleOf = (fields: Fields, number: number): number => bytesOf(fields, number).readDoubleLE()
export const has = (fields: Fields, number: number): boolean => fields.has(number)
export const messagesOf = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map(value => readFields(value as Buffer))
export const messageOf = (fields: Fields, number: number): Fields => readFields(bytesOf(fields, number))
