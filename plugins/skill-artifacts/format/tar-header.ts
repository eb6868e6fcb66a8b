import { failures } from '../failures.ts'

/** One header block of a tar archive (POSIX.1-2024, pax, "ustar Interchange Format"). */
export interface TarHeader {
  /** With the prefix. Extended headers may replace it. */
  readonly path: string
  readonly size: number
  /** The type flag; a NUL reads as `0`. */
  readonly type: string
}

export const BLOCK = 512

const refuse = (problem: string) => failures.skill_archive_refused({ problem })

/** Reads a header block. Fails with `skill_archive_refused` where another reader could understand it differently. */
export function readTarHeader(block: Buffer): TarHeader {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (number(block, 148, 8) !== sum) throw refuse('a header has a wrong checksum.')
  const isUstar = block.subarray(257, 263).toString('latin1') === 'ustar\0'
  const prefix = isUstar ? text(block.subarray(345, 500)) : ''
  const name = text(block.subarray(0, 100))
  return {
    path: prefix ? `${prefix}/${name}` : name,
    size: number(block, 124, 12),
    type: block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0),
  }
}

/** Reads octal digits between blanks or NULs, or GNU's form of large numbers: a set top bit and a binary number. */
function number(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length)
  if ((field[0] ?? 0) & 0x80) {
    const isLarge = field[0] !== 0x80 || field.subarray(1, -6).some(byte => byte !== 0)
    if (isLarge) throw refuse('a header has an impossible number.')
    return field.readUIntBE(length - 6, 6)
  }
  const digits = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1]
  if (digits === undefined) throw refuse('a header has a number that cannot be read.')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** Returns the text before the first NUL. Fails with `skill_archive_refused` unless it is UTF-8. */
export function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      end < 0 ? bytes : bytes.subarray(0, end),
    )
  } catch (error) {
    throw failures.skill_archive_refused({ problem: 'a name in it is not UTF-8.' }, { cause: error })
  }
}

/**
 * Reads the records of an extended header: `LENGTH KEY=VALUE` and a line feed. It goes by the lengths, so
 * a value may contain any byte (POSIX.1-2024, pax, "pax Extended Header").
 */
export function readPaxRecords(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at)
    const digits = blank < 0 ? '' : bytes.subarray(at, blank).toString('latin1')
    const length = /^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : 0
    const record = bytes.subarray(blank + 1, at + length - 1)
    const equals = record.indexOf(0x3d)
    if (!length || at + length > bytes.length || bytes[at + length - 1] !== 0x0a || equals < 1) {
      throw refuse('an extended header cannot be read.')
    }
    const key = record.subarray(0, equals).toString('latin1')
    if (records.has(key)) throw refuse(`an extended header says "${key.slice(0, 50)}" twice.`)
    const value = record.subarray(equals + 1)
    // Other readers may end such a name at the NUL.
    if (key === 'path' && value.includes(0)) throw refuse('a name in it has a NUL.')
    records.set(key, key === 'path' ? text(value) : value.toString('latin1'))
    at += length
  }
  return records
}
