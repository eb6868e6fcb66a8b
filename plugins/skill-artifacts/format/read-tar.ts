import { failures } from '../failures.ts'
import { BLOCK, readPaxRecords, readTarHeader, type TarHeader, text } from './tar-header.ts'

/** A file or folder in a tar archive. */
export interface TarMember {
  readonly path: string
  readonly kind: 'file' | 'folder'
  readonly size: number
  /** The bytes of the file. What the consumer does not read is skipped. */
  readonly content: AsyncIterable<Buffer>
}

const LARGEST_EXTENDED = 64 * 1024
const refuse = (problem: string) => failures.skill_archive_refused({ problem })

const WORDS: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  K: 'a link',
  S: 'a sparse file',
}

/**
 * Reads a tar archive as a stream: ustar, pax and GNU's long names. It is stricter than tar programs: it
 * fails with `skill_archive_refused` at anything but ordinary files and folders, and where two readers
 * could differ, such as a size or a name given twice, or data after the end.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const blocks = blockReader(source)
  try {
    yield* readMembers(blocks)
  } finally {
    await blocks.close()
  }
}

async function* readMembers(blocks: BlockReader): AsyncGenerator<TarMember> {
  let extended: { path?: string | undefined; size?: string | undefined } | undefined
  for (;;) {
    const block = await blocks.take(BLOCK)
    if (isZero(block)) {
      if (extended) throw refuse('no file follows an extended header.')
      return readEnd(blocks)
    }
    const header = readTarHeader(block)
    if (header.type === 'g') {
      const global = readPaxRecords(await readExtended(header, blocks))
      for (const key of ['path', 'size', 'linkpath']) {
        if (global.has(key)) throw refuse(`it says the ${key} of all its files at once.`)
      }
    } else if (header.type === 'x' || header.type === 'L') {
      if (extended) throw refuse('a file has two extended headers.')
      const bytes = await readExtended(header, blocks)
      extended = header.type === 'x' ? localRecords(bytes) : { path: longName(bytes) }
    } else {
      const path = extended?.path ?? header.path
      const size = sizeOf(header, extended?.size)
      extended = undefined
      const content = blocks.content(size)
      yield { path, kind: kindOf(header, path, size), size, content }
      await content.skip()
    }
  }
}

function kindOf({ type }: TarHeader, path: string, size: number): TarMember['kind'] {
  // Archives older than ustar mark a folder only by the slash.
  if (type === '5' || ((type === '0' || type === '7') && path.endsWith('/'))) {
    if (size > 0) throw refuse('a folder in it has content.')
    return 'folder'
  }
  if (type === '0' || type === '7') return 'file'
  throw refuse(`it holds ${WORDS[type] ?? 'something other than a file'}: ${path.slice(0, 200)}.`)
}

function sizeOf({ size }: TarHeader, extended: string | undefined): number {
  if (extended !== undefined && extended !== String(size)) {
    throw refuse('a file has one size in its header and another in its extended header.')
  }
  return size
}

async function readExtended({ size }: TarHeader, blocks: BlockReader): Promise<Buffer> {
  if (size > LARGEST_EXTENDED) throw refuse('an extended header is too large.')
  const chunks: Buffer[] = []
  for await (const chunk of blocks.content(size)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function localRecords(bytes: Buffer) {
  const records = readPaxRecords(bytes)
  if (records.has('linkpath')) throw refuse('it holds a link.')
  for (const key of records.keys()) if (key.startsWith('GNU.sparse')) throw refuse('it holds a sparse file.')
  const charset = records.get('hdrcharset')
  if (charset !== undefined && charset !== 'ISO-IR 10646 2000 UTF-8') {
    throw refuse('its names are in another character set than UTF-8.')
  }
  return { path: records.get('path'), size: records.get('size') }
}

function longName(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  if (end >= 0 && end < bytes.length - 1) throw refuse('a name in it has a NUL.')
  return text(bytes)
}

/** Two zero blocks end an archive. Tar programs may add more of them; any other data is refused. */
async function readEnd(blocks: BlockReader): Promise<void> {
  if (!isZero(await blocks.take(BLOCK))) throw refuse('it has data behind its end.')
  for await (const chunk of blocks.rest()) if (!isZero(chunk)) throw refuse('it has data behind its end.')
}

const isZero = (bytes: Buffer): boolean => bytes.every(byte => byte === 0)

interface Content extends AsyncIterable<Buffer> {
  /** Reads the rest of the content and the padding after it. */
  skip(): Promise<void>
}

interface BlockReader {
  /** Returns exactly `length` bytes. Fails when the archive ends before. */
  take(length: number): Promise<Buffer>
  content(size: number): Content
  rest(): AsyncGenerator<Buffer>
  /** Ends the source. */
  close(): Promise<void>
}

function blockReader(source: AsyncIterable<Buffer>): BlockReader {
  const chunks = source[Symbol.asyncIterator]()
  let buffer: Buffer = Buffer.alloc(0)

  /** Returns between 1 and `most` bytes; none at the end. */
  async function some(most: number): Promise<Buffer> {
    while (buffer.length === 0) {
      const next = await chunks.next()
      if (next.done) return buffer
      buffer = next.value
    }
    const bytes = buffer.subarray(0, most)
    buffer = buffer.subarray(bytes.length)
    return bytes
  }

  async function take(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = length; left > 0; ) {
      const bytes = await some(left)
      if (bytes.length === 0) throw refuse('it ends too early.')
      parts.push(bytes)
      left -= bytes.length
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  }

  function content(size: number): Content {
    let left = size
    let padding = (BLOCK - (size % BLOCK)) % BLOCK
    async function* read(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const bytes = await some(left)
        if (bytes.length === 0) throw refuse('it ends too early.')
        left -= bytes.length
        yield bytes
      }
      if (padding > 0) await take(padding)
      padding = 0
    }
    return {
      [Symbol.asyncIterator]: read,
      async skip() {
        for await (const _ of read());
      },
    }
  }

  return {
    take,
    content,
    async *rest() {
      for (;;) {
        const bytes = await some(64 * 1024)
        if (bytes.length === 0) return
        yield bytes
      }
    },
    async close() {
      await chunks.return?.()
    },
  }
}
