import { rename, rm } from 'node:fs/promises'
import * as t from 'typanion'
import { isFailure } from '../../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { parseDocument } from '../../../src/parse-document.ts'

/** One folder of a client that is replaced, added or removed. */
export interface FolderStep {
  /** The path that the client reads. */
  readonly target: string
  /** The temporary folder beside it with the new content; null when the folder is removed. */
  readonly next: string | null
  /** The digest of the new content, so that an undo never removes a folder of another program. */
  readonly digest: string | null
  /** The path that the old content is moved to; null when there was none. */
  readonly old: string | null
  /** Parent folders that had to be made, the outermost first. */
  readonly created: readonly string[]
  /** This folder and those above it are kept when they become empty. */
  readonly keep: string
}

export interface FileStep {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  readonly mode: number
}

export interface GroupStep {
  readonly group: string
  readonly skill: string
  /** The membership after the change; before the change it is the opposite. */
  readonly member: boolean
}

/** The steps of a change, on disk before it begins. A later process undoes or finishes the change with it. */
export interface Journal {
  /** Whether everything is in place, so that only temporary folders have to be removed. */
  readonly committed: boolean
  readonly folders: readonly FolderStep[]
  readonly files: readonly FileStep[]
  readonly groups: readonly GroupStep[]
}

const text = t.isString()
const textOrNull = t.isNullable(text)
const schema = t.isObject({
  committed: t.isBoolean(),
  folders: t.isArray(
    t.isObject({
      target: text,
      next: textOrNull,
      digest: textOrNull,
      old: textOrNull,
      created: t.isArray(text),
      keep: text,
    }),
  ),
  files: t.isArray(t.isObject({ path: text, before: textOrNull, after: textOrNull, mode: t.isNumber() })),
  groups: t.isArray(t.isObject({ group: text, skill: text, member: t.isBoolean() })),
})

/** The file of the journal. It exists only while a change is under way or after one was interrupted. */
export function createJournalFile(path: string): {
  readonly path: string
  /** Reads the journal. One that cannot be read is set aside: it was written whole, so the disk has damaged it. */
  read(): Promise<Journal | undefined>
  write(journal: Journal): Promise<void>
  remove(): Promise<void>
} {
  return {
    path,
    async read() {
      const text = await readFileIfThere(path)
      if (text === undefined) return undefined
      try {
        return parseDocument(text, path, schema) as Journal
      } catch (error) {
        if (!isFailure(error, 'invalid_file')) throw error
        await rename(path, `${path}.unreadable`)
        return undefined
      }
    },
    write: journal => writeFileAtomic(path, `${JSON.stringify(journal)}\n`),
    remove: () => rm(path, { force: true }),
  }
}
