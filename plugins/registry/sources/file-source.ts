import { stat } from 'node:fs/promises'
import { readUserFile } from '../../../src/user-file.ts'
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

export const readRegistryFile = (path: string): Promise<string> =>
  readUserFile(path, 'The registry file', { most: MOST_BYTES, pipes: false })

/** Some sixty times what a large catalogue has. */
const MOST_BYTES = 64 * 2 ** 20
