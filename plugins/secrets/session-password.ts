import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import { assertPrivateFolder, ensurePrivateFolder } from '../../src/private-folder.ts'

/** Keeps the password of the secrets until the user's last session on this machine ends. */
export interface SessionPassword {
  find(): Promise<string | undefined>
  keep(password: string): Promise<void>
  /** False when none was kept. */
  forget(): Promise<boolean>
}

/**
 * Keeps it in XDG_RUNTIME_DIR: the XDG Base Directory Specification demands that only the user can enter that folder, and
 * that it is removed when the user logs out. Undefined where there is none.
 */
export function findSessionPassword(
  { runtime }: Pick<Paths, 'runtime'>,
  { XDG_RUNTIME_DIR: folder }: Readonly<Record<string, string | undefined>>,
): SessionPassword | undefined {
  if (!folder?.startsWith('/')) return undefined
  const path = join(runtime, 'secrets.password')
  const find = async () => {
    assertPrivateFolder(dirname(path))
    return readFileIfThere(path)
  }
  return {
    find,
    async keep(password) {
      ensurePrivateFolder(dirname(path))
      await writeFileAtomic(path, password)
    },
    async forget() {
      const there = (await find()) !== undefined
      await rm(path, { force: true })
      return there
    },
  }
}
