import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { walkTree } from './walk-tree.ts'

/**
 * Returns the digest of a skill's files that lock files hold: `sha256:<hex>` over path, NUL, the raw
 * SHA-256 of the content and LF, for each file in the order of its path's bytes. Modes, times, empty
 * folders and special files do not count. Fails with ENOENT when the folder does not exist.
 */
export async function contentDigest(folder: string): Promise<string> {
  const paths: Buffer[] = []
  for await (const { path, kind } of walkTree(folder)) if (kind === 'file') paths.push(Buffer.from(path))
  const digest = createHash('sha256')
  for (const path of paths.sort(Buffer.compare)) {
    const content = createHash('sha256')
    await pipeline(createReadStream(join(folder, path.toString())), content)
    digest.update(path).update('\0').update(content.digest()).update('\n')
  }
  return `sha256:${digest.digest('hex')}`
}
