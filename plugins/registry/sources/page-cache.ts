import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'

/** A response as received, with the validators of conditional requests (RFC 9110, section 13). */
export interface CachedPage {
  url: string
  text: string
  etag?: string | undefined
  last_modified?: string | undefined
}

export interface CachedAnswer {
  readonly fetchedAt: number
  readonly pages: readonly CachedPage[]
}

const MiB = 1024 * 1024
const MAX_AGE_MS = 7 * 24 * 3_600_000
const MAX_FILE = 10 * MiB
const MAX_FOLDER = 50 * MiB

const schema = t.isObject({
  url: t.isString(),
  fetched_at: t.isNumber(),
  pages: t.isArray(
    t.isObject({
      url: t.isString(),
      text: t.isString(),
      etag: t.isOptional(t.isString()),
      last_modified: t.isOptional(t.isString()),
    }),
  ),
})

/**
 * Keeps the responses of registries, one file per registry. What is too old, too large or unreadable is
 * dropped; a cache that cannot be written costs nothing but the next fetch.
 */
export function createCache({ folder, clock = Date.now }: { folder: string; clock?: () => number }) {
  const pathOf = (url: string) =>
    join(folder, `registry-${createHash('sha256').update(url).digest('hex').slice(0, 8)}.json`)

  return {
    async read(url: string): Promise<CachedAnswer | undefined> {
      const path = pathOf(url)
      try {
        if ((await stat(path)).size > MAX_FILE) throw new Error('too large')
        const value: unknown = JSON.parse(await readFile(path, 'utf8'))
        if (!schema(value) || value.url !== url) throw new Error('not ours')
        if (Math.abs(clock() - value.fetched_at) > MAX_AGE_MS) throw new Error('too old')
        return { fetchedAt: value.fetched_at, pages: value.pages }
      } catch {
        await rm(path, { force: true }).catch(() => undefined)
        return undefined
      }
    },

    forget: (url: string): Promise<void> => rm(pathOf(url), { force: true }),

    async write(url: string, pages: readonly CachedPage[]): Promise<void> {
      const text = JSON.stringify({ url, fetched_at: clock(), pages })
      if (Buffer.byteLength(text) > MAX_FILE) return
      try {
        await writeFileAtomic(pathOf(url), text)
        await prune(folder)
      } catch {
        // A full disk or a read-only folder: the response is used and not kept.
      }
    },
  }
}

export type Cache = ReturnType<typeof createCache>

/** Removes the oldest files until the folder is within its cap. */
async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.startsWith('registry-'))
  const files = await Promise.all(
    names.map(async name => {
      const path = join(folder, name)
      const { size, mtimeMs } = await stat(path)
      return { path, size, mtimeMs }
    }),
  )
  let total = files.reduce((sum, file) => sum + file.size, 0)
  for (const file of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= MAX_FOLDER) return
    await rm(file.path, { force: true })
    total -= file.size
  }
}
