import { X509Certificate } from 'node:crypto'
import { failures } from './errors.ts'
import { readUserFile } from './user-file.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/**
 * The certificates of a PEM file that the user named; undefined without a path. Fails with `file_missing`,
 * `file_unreadable` or, where it holds something else, `invalid_file`.
 */
export async function readCaBundle(path: string | undefined): Promise<string | undefined> {
  if (!path) return undefined
  const blocks = (await readUserFile(path, 'The CA bundle')).match(BLOCK) ?? []
  if (blocks.length === 0) throw failures.invalid_file({ path, problem: 'it holds no certificate' })
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block)
    } catch (error) {
      const problem = `certificate ${index + 1} cannot be read`
      throw failures.invalid_file({ path, problem }, { cause: error })
    }
  }
  return blocks.join('\n')
}
