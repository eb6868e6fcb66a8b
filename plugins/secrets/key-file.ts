import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import { withFileLock } from '../../src/with-file-lock.ts'

const LOCK_SECONDS = 10

/** The file with the password that keelson keeps for a user who has no keyring. */
export const keyFilePath = ({ config }: Paths): string => join(config, 'secrets.key')

/**
 * Writes the password into a file that only the user can read (0600). Without a password, a file that is there
 * stays, else it gets a random one. Of two processes at once, one makes the key and both use it: a key that was
 * replaced would take the secrets with it.
 */
export async function writeKeyFile(paths: Paths, password?: string): Promise<string> {
  const path = keyFilePath(paths)
  await withFileLock(
    `${path}.lock`,
    async () => {
      if (password === undefined && (await readFileIfThere(path)) !== undefined) return
      await writeFileAtomic(path, `${password ?? randomBytes(32).toString('base64url')}\n`)
    },
    { seconds: LOCK_SECONDS },
  )
  return path
}
