/** One file of an archive. */
export interface TarFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly content: Buffer
}

const BLOCK = 512

/**
 * Writes a tar archive of files, in the order in which they come: owned by nobody in particular, mode
 * 0644, one time for all. A name that ustar cannot hold gets an extended header (POSIX.1-2024, pax).
 */
export async function* writeTar(
  files: AsyncIterable<TarFile> | Iterable<TarFile>,
  { mtime }: { mtime: number },
): AsyncGenerator<Buffer> {
  for await (const { path, content } of files) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is ASCII
    const isShort = Buffer.byteLength(path) <= 100 && /^[\x00-\x7f]*$/.test(path)
    if (!isShort) {
      const record = paxRecord('path', path)
      yield header({ name: 'PaxHeaders.0/file', type: 'x', size: record.length, mtime })
      yield padded(record)
    }
    yield header({ name: isShort ? path : 'file', type: '0', size: content.length, mtime })
    yield padded(content)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function header({ name, type, size, mtime }: { name: string; type: '0' | 'x'; size: number; mtime: number }) {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write('0000644\0' + '0000000\0' + '0000000\0', 100)
  block.write(`${octal(size, 11)}\0${octal(mtime, 11)}\0`, 124)
  block.write(' '.repeat(8), 148)
  block.write(type, 156)
  block.write('ustar\x0000', 257)
  block.write('0000000\0' + '0000000\0', 329)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])

/** A record begins with its own length, digits and all. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + 1
  while (rest + String(length).length !== length) length++
  return Buffer.from(`${length} ${key}=${value}\n`)
}
