import { rename, rm } from 'node:fs/promises'
import * as t from 'typanion'
import { isFailure } from '../../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { parseDocument } from '../../../src/parse-document.ts'

/** One folder of a client that is replaced, added or taken away. */
export interface FolderStep {
  /** Where the client looks. */
  readonly target: string
  /** The new content beside it, under a name of ours, until it takes its place; null: nothing takes it. */
  readonly next: string | null
  /** What the new content is, so that an undo never takes what somebody else has put there. */
  readonly digest: string | null
  /** Where the old content waits; null: there was none. */
  readonly old: string | null
  /** Folders on the way that were not there, the outermost first. */
  readonly created: readonly string[]
  /** This folder and those above it stay when nothing is left in them. */
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
  /** What it will be; it is the other way round now. */
  readonly member: boolean
}

/** What a change is about to do, on disk before it begins: whoever finds it knows how to go back, or to finish. */
export interface Journal {
  /** Everything is in place; only what is left over has to go. */
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

/** The journal's file; there is one at most, while a change is under way or was interrupted. */
export function createJournalFile(path: string): {
  readonly path: string
  /** One that cannot be read is set aside: it was written whole, so this machine's disk has lost it. */
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
