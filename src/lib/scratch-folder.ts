import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * Gives the work an empty folder of its own (0700) and removes it afterwards.
 *
 * It lies below the user's cache folder, not in the system's temporary one: tools look for settings
 * in the folders above as well, and there others could leave some.
 */
export async function inScratchFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(await privateParent(), 'tool-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function privateParent(): Promise<string> {
  const { XDG_CACHE_HOME: cache = '' } = process.env
  const parent = join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'keelson')
  return mkdir(parent, { recursive: true, mode: 0o700 }).then(
    () => parent,
    () => tmpdir(), // no home to write to: `mkdtemp` still makes a folder of our own
  )
}
