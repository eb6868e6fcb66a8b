import { randomBytes } from 'node:crypto'
import { lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageEntry } from '../../../src/contracts/runtime.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import { hasProcess } from './has-process.ts'
import { parseImage } from './installed-package.ts'
import { alone, placeOf, readRecord } from './package-folder.ts'

/** The packages in the folder of a store. One whose record cannot be read is left out. */
export async function listPackages(folder: string): Promise<ImageEntry[]> {
  const found: ImageEntry[] = []
  for (const scheme of await namesIn(folder)) {
    for (const name of await namesIn(join(folder, scheme))) {
      const place = join(folder, scheme, name)
      const record = await readRecord(place).catch(() => undefined)
      if (record) found.push({ name: record.image, bytes: await sizeOf(place) })
    }
  }
  return found
}

/**
 * Idempotent. An installation of the same package under way is waited for. Fails with `process_package_in_use`
 * while a process runs the package.
 */
export async function removePackage(folder: string, image: string): Promise<void> {
  const pinned = parseImage(image)
  if (!pinned) return
  const place = placeOf(folder, pinned, image)
  await alone(place, async () => {
    if (await hasProcess(place)) throw failures.process_package_in_use({ image })
    // Renamed first, so that a kill leaves no package that is there in part. `alone` clears what is left.
    const temporary = `${place}.${randomBytes(4).toString('hex')}.tmp`
    try {
      await rename(place, temporary)
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    await rm(temporary, { recursive: true, force: true })
  })
}

const namesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter(entry => entry.isDirectory() && !entry.name.endsWith('.tmp')).map(entry => entry.name)
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  try {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size
    }
  } catch (error) {
    if (!isMissing(error)) throw error // another process is deleting it
  }
  return bytes
}
