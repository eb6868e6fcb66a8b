import { readFile } from 'node:fs/promises'
import { failures as core } from '../../../src/errors.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { parseRegistry } from '../formats/parse-registry.ts'
import type { Source } from './source.ts'

/** A registry in a file of this host, read anew each time. */
export const fileSource = (path: string): Source => ({
  kind: 'file',
  place: path,
  read: async () => parseRegistry(await readRegistryFile(path), path),
})

export async function readRegistryFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw core.file_missing({ what: 'The registry file', path }, { cause: error })
    throw error
  }
}
