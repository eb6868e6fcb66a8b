import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageEntry } from '../../../src/contracts/runtime.ts'
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

/** Idempotent. An installation of the same package under way is waited for. */
export async function removePackage(folder: string, image: string): Promise<void> {
  const pinned = parseImage(image)
  if (!pinned) return
  const place = placeOf(folder, pinned, image)
  await alone(place, () => rm(place, { recursive: true, force: true }))
}

const namesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}
