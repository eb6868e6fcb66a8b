import { crc32 } from 'node:zlib'
import { type Bits, createBits } from './bit-writer.ts'
import { createMatcher, WINDOW } from './find-matches.ts'
import { DISTANCES, LENGTHS, literalCode } from './fixed-codes.ts'

/** So much is packed at once; a stored block cannot hold more (RFC 1951 section 3.2.4). */
const BLOCK = 65_535

/**
 * Packs as gzip (RFC 1952), to the same bytes on every machine.
 *
 * zlib's output depends on its version, on how it was built and on the processor, and Node brings a zlib
 * of its own or the system's. The digest of an artifact must depend on its content alone, so this is a
 * deflate of ours: greedy, with fixed codes (RFC 1951 section 3.2.6), a tenth to a quarter larger than zlib's best.
 */
export async function* gzipReproducibly(
  source: AsyncIterable<Buffer>,
  { mtime }: { mtime: number },
): AsyncGenerator<Buffer> {
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
  header.writeUInt32LE(mtime, 4)
  yield header
  const encode = createEncoder()
  let checksum = 0
  let size = 0
  for await (const block of blocksOf(source)) {
    checksum = crc32(block, checksum)
    size += block.length
    yield encode(block)
    await new Promise(resolve => setImmediate(resolve)) // packing is work, and others wait for their turn
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  yield encode()
  yield trailer
}

/** Blocks of one size, however the source is cut: the cuts would show in the result. */
async function* blocksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (; rest.length >= BLOCK; rest = rest.subarray(BLOCK)) yield rest.subarray(0, BLOCK)
  }
  if (rest.length) yield rest
}

/** Makes blocks of deflate; without bytes the last one, which is empty. */
function createEncoder(): (block?: Buffer) => Buffer {
  const findMatches = createMatcher()
  const bits = createBits()
  return block => {
    if (!block) {
      bits.put(0b011, 3) // last block, fixed codes
      bits.put(0, 7)
      return bits.take(true)
    }
    const tokens = findMatches(block)
    if (costOf(tokens) > block.length * 8) {
      bits.put(0b000, 3)
      bits.align()
      const lengths = Buffer.alloc(4)
      lengths.writeUInt16LE(block.length, 0)
      lengths.writeUInt16LE(~block.length & 0xffff, 2)
      return Buffer.concat([bits.take(true), lengths, block])
    }
    bits.put(0b010, 3)
    for (const token of tokens) putToken(bits, token)
    bits.put(0, 7) // end of block
    return bits.take(false)
  }
}

/** A token is a byte, or a length and a distance: `length * WINDOW * 2 + distance`. */
const lengthOf = (token: number): number => Math.floor(token / (WINDOW * 2))
const distanceOf = (token: number): number => token % (WINDOW * 2)

function costOf(tokens: Float64Array): number {
  let bits = 0
  for (const token of tokens) {
    if (token < 256) bits += token < 144 ? 8 : 9
    else bits += LENGTHS.bits(lengthOf(token)) + DISTANCES.bits(distanceOf(token))
  }
  return bits
}

function putToken(bits: Bits, token: number): void {
  if (token < 256) {
    const { code, width } = literalCode(token)
    bits.put(code, width)
    return
  }
  LENGTHS.put(bits, lengthOf(token))
  DISTANCES.put(bits, distanceOf(token))
}
