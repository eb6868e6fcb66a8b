import { type BigIntStats, readdirSync, readFileSync, statSync } from 'node:fs'
import { isMissing } from '../../src/lib/atomic-file.ts'

/** A file that is younger than this when it is read may be written once more within the same tick of the clock. */
const YOUNG_NS = 100_000_000n

/**
 * Caches the documents of a folder: a file is parsed again only after it was written. Reads are
 * synchronous: for hundreds of small files that is far cheaper than hundreds of tasks, and they do not
 * queue behind writes that wait for the disk.
 */
export function createDocumentCache<T extends object>(
  folder: string,
  parse: (text: string, file: string) => T,
) {
  const kept = new Map<string, { readonly stamp: string; readonly document: T }>()
  return {
    /** Names of the files there are. */
    files(): string[] {
      try {
        return readdirSync(folder).sort()
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    },
    /** The document of a file, frozen; undefined when the file is gone. */
    read(file: string, path: string): T | undefined {
      try {
        const found = statSync(path, { bigint: true })
        const before = kept.get(file)
        const stamp = stampOf(found)
        if (before?.stamp === stamp) return before.document
        const document = freeze(parse(readFileSync(path, 'utf8'), path))
        if (BigInt(Date.now()) * 1_000_000n - found.ctimeNs > YOUNG_NS) kept.set(file, { stamp, document })
        else kept.delete(file)
        return document
      } catch (error) {
        kept.delete(file)
        if (isMissing(error)) return undefined
        throw error
      }
    },
    /** Forgets what is no longer there. */
    keepOnly(files: ReadonlySet<string>): void {
      for (const file of kept.keys()) if (!files.has(file)) kept.delete(file)
    },
  }
}

const stampOf = ({ ino, size, ctimeNs }: BigIntStats): string => `${ino} ${size} ${ctimeNs}`

/** Several callers get the same document, so none may change it. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
