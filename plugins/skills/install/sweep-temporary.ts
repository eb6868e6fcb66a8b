import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'

/**
 * Removes the unfinished files that killed processes have left beside a file of ours: they are named after
 * it and the process (see atomic-file.ts and file-lock.ts).
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
