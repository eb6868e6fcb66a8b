import { readFile, stat } from 'node:fs/promises'
import { failures as core } from '../../../src/errors.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { parseRegistry } from '../formats/parse-registry.ts'
import type { Source } from './registry-source.ts'

/** A registry in a file of this host. */
export async function fileSource(path: string): Promise<Source> {
  const { mtimeMs, size, ino } = await stat(path).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }))
  return {
    kind: 'file',
    place: path,
    stamp: `${ino} ${size} ${mtimeMs}`,
    read: async () => parseRegistry(await readRegistryFile(path), path),
  }
}

export async function readRegistryFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw core.file_missing({ what: 'The registry file', path }, { cause: error })
    throw error
  }
}
