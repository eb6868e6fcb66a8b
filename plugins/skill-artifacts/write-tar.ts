import { Header, Pax } from 'tar'

/** One file of an archive. */
export interface TarFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly content: Buffer
}

const BLOCK = 512

/**
 * Writes a tar archive of files, in the given order. All have the owner 0, the mode 0644 and the same
 * time. A name that ustar cannot hold gets an extended header (POSIX.1-2024, pax).
 */
export async function* writeTar(
  files: AsyncIterable<TarFile> | Iterable<TarFile>,
  { mtime }: { mtime: number },
): AsyncGenerator<Buffer> {
  const stat = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(mtime * 1000), type: 'File' as const }
  for await (const { path, content } of files) {
    const header = new Header({ ...stat, path, size: content.length })
    const block = Buffer.alloc(BLOCK)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
    const needsPax = header.encode(block) || /[^\x00-\x7f]/.test(path)
    if (needsPax) yield new Pax({ path, mode: stat.mode }).encode()
    yield block
    yield padded(content)
  }
  yield Buffer.alloc(2 * BLOCK)
}

const padded = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
