import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'

/** The file with the password that keelson keeps for a user who has no keyring. */
export const keyFilePath = ({ config }: Paths): string => join(config, 'secrets.key')

/** Writes the password, or a random one, into a file that only the user can read (0600). One that is there stays. */
export async function writeKeyFile(paths: Paths, password?: string): Promise<string> {
  const path = keyFilePath(paths)
  if (password === undefined && (await readFileIfThere(path)) !== undefined) return path
  await writeFileAtomic(path, `${password ?? randomBytes(32).toString('base64url')}\n`)
  return path
}
