import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processIdentity } from '../../src/lib/process-identity.ts'

const NAME = /^keelson-build-(\d+)-/

/**
 * A folder to build from, for the time of the work. What builds that were killed have left goes first:
 * it may hold secrets.
 */
export async function withBuildContext<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await removeLeftovers()
  const folder = await mkdtemp(join(tmpdir(), `keelson-build-${process.pid}-`))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = NAME.exec(name)?.[1]
    if (pid === undefined || processIdentity(Number(pid)) !== undefined) continue
    // Another user's is not ours to remove.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined)
  }
}
