import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { toSigningKeys } from './read-key.ts'
import type { SigningKeys } from './signing-keys.ts'

/** How long a file may have changed before that is noticed. */
const LOOK_MS = 5000

/**
 * Reads the signing keys from files, and again when one of them has changed. New files that cannot be used are
 * reported, and the keys stay as they are. Fails with `auth_server_config_invalid`, `file_missing` and
 * `file_unreadable`.
 */
export async function openKeyFiles(
  { signing, others }: { signing: string; others: readonly string[] },
  { log, now = Date.now }: { log: Pick<Log, 'warn'>; now?: () => number },
): Promise<() => Promise<SigningKeys>> {
  const read = async (path: string) => ({ path, text: await readUserFile(path, 'The signing key') })
  const load = async () => toSigningKeys(await read(signing), await Promise.all(others.map(read)))
  const look = async () => (await Promise.all([signing, ...others].map(versionOf))).join(' ')
  let version = await look()
  let keys = await load()
  let lookedAt = now()
  let looking: Promise<void> | undefined

  async function refresh(): Promise<void> {
    const found = await look()
    if (found === version) return
    version = found
    try {
      keys = await load()
    } catch (error) {
      log.warn(`the new signing keys are not used: ${messageOf(error)}`)
    }
  }

  return async () => {
    if (now() - lookedAt >= LOOK_MS) {
      lookedAt = now()
      looking = refresh().finally(() => {
        looking = undefined
      })
    }
    await looking
    return keys
  }
}

const versionOf = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => undefined)
  return found ? `${found.ino}:${found.size}:${found.mtimeMs}` : 'none'
}

/** Names of keys stand for files in `key_dir`, or in the current folder. */
export const keyPath = (name: string, folder = ''): string => resolve(folder, name)
