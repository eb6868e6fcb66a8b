import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'

/**
 * Removes the temporary files of killed processes. Their names consist of the name of the file and the
 * process id (see atomic-file.ts and file-lock.ts). `isOurs` gets the name of the file.
 */
export async function sweepTemporary(folder: string, isOurs: (name: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(error => {
    if (isMissing(error)) return []
    throw error
  })
  for (const name of names) {
    const [, of = '', pid = ''] = /^(.+)\.(\d+)\.[0-9a-z]+\.tmp$/.exec(name) ?? []
    if (of === '' || !isOurs(of) || processIdentity(Number(pid)) !== undefined) continue
    await rm(join(folder, name), { force: true })
  }
}
