import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { parseDocument } from '../../../src/parse-document.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import {
  folderName,
  type PackageRecord,
  type PinnedPackage,
  packageRecordSchema,
} from './installed-package.ts'
import type { Installed } from './npm.ts'

const RECORD = 'keelson.json'
const LOCK_SECONDS = 15 * 60

/** The folder of a package below the folder of the store. */
export const placeOf = (folder: string, { scheme }: PinnedPackage, image: string): string =>
  join(folder, scheme, folderName(image))

/** What is installed in a folder; undefined for nothing. */
export async function readRecord(place: string): Promise<PackageRecord | undefined> {
  const path = join(place, RECORD)
  const text = await readFileIfThere(path)
  return text === undefined ? undefined : (parseDocument(text, path, packageRecordSchema) as PackageRecord)
}

/** One installer per package; what killed ones left is cleared. */
export async function alone<T>(place: string, work: () => Promise<T>): Promise<T> {
  const lock = `${place}.lock`
  return withFileLock(
    lock,
    async () => {
      const parent = dirname(place)
      const dead = (await readdir(parent)).filter(
        name => name.startsWith(`${basename(place)}.`) && name.endsWith('.tmp'),
      )
      await Promise.all(dead.map(name => rm(join(parent, name), { recursive: true, force: true })))
      return work()
    },
    { seconds: LOCK_SECONDS },
  )
}

/** Fills a temporary folder, adds the record and moves it to its place. */
export async function intoPlace(
  place: string,
  { name, version }: PinnedPackage,
  image: string,
  fill: (folder: string) => Promise<Installed>,
): Promise<void> {
  const temporary = `${place}.${randomBytes(4).toString('hex')}.tmp`
  try {
    await mkdir(temporary, { mode: 0o755 })
    const installed = await fill(temporary)
    const record: PackageRecord = {
      image,
      name,
      version,
      installed_at: new Date().toISOString(),
      ...installed,
    }
    await writeFileAtomic(join(temporary, RECORD), JSON.stringify(record, null, 2), { mode: 0o644 })
    await rename(temporary, place)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
