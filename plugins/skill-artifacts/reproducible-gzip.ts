import { Gzip } from 'fflate'

/** So much is packed at once: how the source is cut would show in the result. */
const BLOCK = 65_536
/** Place of the header's byte that names the system, and its value for none (RFC 1952 section 2.3.1). */
const SYSTEM = { at: 9, unknown: 255 }

/**
 * Packs as gzip (RFC 1952), to the same bytes on every machine.
 *
 * zlib's output depends on its version, on how it was built and on the processor, and Node brings a zlib
 * of its own or the system's. The digest of an artifact must depend on its content alone, so this is
 * fflate, which is JavaScript alone; another version of it may give other digests.
 */
export async function* gzipReproducibly(
  source: AsyncIterable<Buffer>,
  { mtime }: { mtime: number },
): AsyncGenerator<Buffer> {
  let packed: Uint8Array[] = []
  const gzip = new Gzip({ level: 9, mtime: mtime * 1000 }, chunk => packed.push(chunk))
  let isFirst = true
  function take(): Buffer {
    const chunk = Buffer.concat(packed)
    packed = []
    if (isFirst && chunk.length > 0) {
      isFirst = false
      chunk[SYSTEM.at] = SYSTEM.unknown
    }
    return chunk
  }
  for await (const block of blocksOf(source)) {
    gzip.push(block)
    yield take()
    await new Promise(resolve => setImmediate(resolve)) // packing is work, and others wait for their turn
  }
  gzip.push(new Uint8Array(0), true)
  yield take()
}

/** Blocks of one size, and a last one that may be shorter. */
async function* blocksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (; rest.length >= BLOCK; rest = rest.subarray(BLOCK)) yield rest.subarray(0, BLOCK)
  }
  if (rest.length) yield rest
}
