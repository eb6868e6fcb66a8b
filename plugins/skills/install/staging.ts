import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { isRunning, processIdentity } from '../../../src/lib/process-identity.ts'

/** Calls `work` with a new staging folder, and removes the folder afterwards. */
export async function withStaging<T>(folder: string, work: (staging: string) => Promise<T>): Promise<T> {
  await sweepStaging(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const mine = encodeURIComponent(processIdentity(process.pid) ?? String(process.pid))
  const staging = await mkdtemp(join(folder, `${mine}~`))
  try {
    return await work(staging)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Removes the staging folders of killed processes. */
export async function sweepStaging(folder: string): Promise<void> {
  const names = await readdir(folder).catch(error => {
    if (isMissing(error)) return []
    throw error
  })
  for (const name of names) {
    const holder = decodeURIComponent(name.split('~')[0] ?? '')
    if (!isRunning(holder)) await rm(join(folder, name), { recursive: true, force: true })
  }
}
