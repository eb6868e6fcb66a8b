import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** A member of an archive, written byte by byte; what is left out is as a good tar program writes it. */
export interface RawMember {
  path?: string | Buffer
  type?: string
  content?: string | Buffer
  /** What the header says, whatever the content has. */
  size?: number | string | Buffer
  link?: string
  prefix?: string
  magic?: string
  checksum?: string
}

export const SKILL = '---\nname: demo\ndescription: Shows how it is done.\n---\nDo it.\n'

/** The blocks of one member. */
export function member(raw: RawMember): Buffer {
  const content = Buffer.from(raw.content ?? '')
  const block = Buffer.alloc(512)
  const put = (text: string | Buffer, at: number, length: number) => {
    Buffer.from(text).subarray(0, length).copy(block, at)
  }
  put(raw.path ?? 'SKILL.md', 0, 100)
  put('0000644\0', 100, 8)
  put('0000000\0', 108, 8)
  put('0000000\0', 116, 8)
  const size = raw.size ?? content.length
  put(typeof size === 'number' ? `${size.toString(8).padStart(11, '0')}\0` : size, 124, 12)
  put('00000000000\0', 136, 12)
  put('        ', 148, 8)
  put(raw.type ?? '0', 156, 1)
  put(raw.link ?? '', 157, 100)
  put(raw.magic ?? 'ustar\x0000', 257, 8)
  put(raw.prefix ?? '', 345, 155)
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(raw.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148, 8)
  return Buffer.concat([block, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

/** An extended header with these records, each well formed. */
export const extended = (records: Record<string, string | Buffer>, type = 'x'): Buffer =>
  member({ path: 'PaxHeaders/x', type, content: Buffer.concat(Object.entries(records).map(record)) })

function record([key, value]: [string, string | Buffer]): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')])
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length++
  return Buffer.concat([Buffer.from(String(length)), rest])
}

export const END = Buffer.alloc(1024)
export const good = member({ content: SKILL })

/** Members and the end. */
export const tar = (...blocks: readonly Buffer[]): Buffer => Buffer.concat([...blocks, END])

/** Packs and writes; the folder goes away with the test. */
export async function archiveOf(bytes: Buffer, { packed = false } = {}): Promise<string> {
  const path = join(await temporaryFolder(), 'skill.tar.gz')
  await writeFile(path, packed ? bytes : gzipSync(bytes))
  return path
}
