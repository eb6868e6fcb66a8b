import { Gzip } from 'fflate'

/** Bytes that are packed at once. It is fixed because the sizes of the chunks change the result. */
const BLOCK = 65_536
/** Offset of the header's byte that names the system, and its value for an unknown one (RFC 1952 section 2.3.1). */
const SYSTEM = { at: 9, unknown: 255 }

/**
 * Packs as gzip (RFC 1952), into the same bytes on every machine.
 *
 * The output of Node's zlib depends on its version, its build and the processor. The digest of an artifact
 * must depend only on its content, so this uses fflate, which is plain JavaScript. Another version of
 * fflate may give other digests.
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
    await new Promise(resolve => setImmediate(resolve)) // packing blocks the event loop
  }
  gzip.push(new Uint8Array(0), true)
  yield take()
}

/** Yields blocks of one size; the last one may be shorter. */
async function* blocksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (; rest.length >= BLOCK; rest = rest.subarray(BLOCK)) yield rest.subarray(0, BLOCK)
  }
  if (rest.length) yield rest
}
