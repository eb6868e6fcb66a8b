import { randomBytes } from 'node:crypto'
import { lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import {
  createJournalFile,
  type FileStep,
  type FolderStep,
  type GroupStep,
  type Journal,
} from './change-journal.ts'
import { copyTree } from './copy-tree.ts'
import { toFileFailure } from './file-failure.ts'

/** A change, which is applied whole or not at all. */
export interface Change {
  readonly folders: readonly {
    readonly target: string
    /** The checked folder to copy to the target; absent when the target is removed. */
    readonly next?: { readonly folder: string; readonly contentDigest: string }
    readonly keep: string
  }[]
  readonly files: readonly FileStep[]
  readonly groups: readonly GroupStep[]
}

/** Applies a change atomically, and recovers after a kill. The caller holds the lock of all skill changes. */
export interface Transactions {
  run(change: Change): Promise<void>
  /** Undoes or finishes an interrupted change. Fails with `skill_unfinished`. */
  recover(): Promise<void>
  /** Whether a change was interrupted or is under way. */
  isPending(): Promise<boolean>
}

/** The functions that change group memberships. */
export type SetMember = (step: GroupStep) => Promise<void>

export function createTransactions(options: {
  journal: string
  contentDigest: (folder: string) => Promise<string>
  setMember: SetMember
  log: Log
}): Transactions {
  const { contentDigest, setMember, log } = options
  const file = createJournalFile(options.journal)

  async function perform(journal: Journal, { folders }: Change): Promise<void> {
    for (const [i, { target, next }] of journal.folders.entries()) {
      const source = folders[i]?.next?.folder
      if (next === null || source === undefined) continue
      await mkdir(dirname(target), { recursive: true })
      await copyTree(source, next)
    }
    for (const { target, next, old } of journal.folders) {
      if (old !== null) await rename(target, old)
      if (next !== null) await rename(next, target)
    }
    for (const { path, after, mode } of journal.files) await setText(path, after, mode)
    for (const step of journal.groups) await setMember(step)
  }

  /** Undoes a change, also one that was undone in part: every step checks what is left to do. */
  async function undo(journal: Journal): Promise<void> {
    for (const { group, skill, member } of journal.groups) {
      await setMember({ group, skill, member: !member }).catch(error => {
        if (!isFailure(error, 'group_unknown')) throw error // a removed group has no members
      })
    }
    for (const { path, before, after, mode } of journal.files) {
      if (((await readFileIfThere(path)) ?? null) === after) await setText(path, before, mode)
    }
    for (const step of journal.folders.toReversed()) await undoFolder(step)
  }

  async function undoFolder({ target, next, digest, old, created }: FolderStep): Promise<void> {
    const placed = next !== null && !(await isThere(next)) && (old === null || (await isThere(old)))
    if (placed && (await isThere(target)) && (await contentDigest(target)) === digest)
      await rename(target, next)
    if (old !== null && (await isThere(old))) {
      if (!(await isThere(target))) await rename(old, target)
      else log.warn(`${target} has changed meanwhile; what was there before is in ${old}.`)
    }
    if (next !== null) await rm(next, { recursive: true, force: true })
    for (const path of created.toReversed()) await removeIfEmpty(path)
  }

  /** Fails with `skill_unfinished`. The journal is kept then, and the next command tries again. */
  async function goBack(journal: Journal): Promise<void> {
    try {
      await undo(journal)
    } catch (error) {
      throw failures.skill_unfinished({ path: file.path, problem: messageOf(error) }, { cause: error })
    }
    await file.remove()
  }

  /** Removes what is left over. The change is done, so a failure is only a warning. */
  async function finish({ folders }: Journal): Promise<void> {
    for (const { target, old, next, keep } of folders) {
      try {
        if (old !== null) await rm(old, { recursive: true, force: true })
        if (next === null) await removeEmptyAbove(target, keep)
      } catch (error) {
        log.warn(`${old ?? dirname(target)} cannot be removed: ${messageOf(error)}`)
      }
    }
    await file.remove()
  }

  return {
    isPending: async () => (await readFileIfThere(file.path)) !== undefined,
    async run(change) {
      const journal = await toJournal(change)
      await file.write(journal)
      try {
        await perform(journal, change)
        await file.write({ ...journal, committed: true })
      } catch (error) {
        await goBack(journal)
        throw toFileFailure(error)
      }
      await finish(journal)
    },
    async recover() {
      const journal = await file.read()
      if (journal) await (journal.committed ? finish(journal) : goBack(journal))
    },
  }
}

/** Returns the journal of a change, with the names of the folders that it moves aside. */
async function toJournal({ folders, files, groups }: Change): Promise<Journal> {
  const id = randomBytes(4).toString('hex')
  const steps: FolderStep[] = []
  const known = new Set<string>()
  for (const { target, next, keep } of folders) {
    const aside = (what: string) => join(dirname(target), `.${basename(target)}.keelson-${what}-${id}`)
    const created = (await missingAbove(target)).filter(path => !known.has(path))
    for (const path of created) known.add(path)
    steps.push({
      target,
      keep,
      next: next ? aside('new') : null,
      digest: next?.contentDigest ?? null,
      old: (await isThere(target)) ? aside('old') : null,
      created,
    })
  }
  return { committed: false, folders: steps, files, groups }
}

async function removeEmptyAbove(target: string, keep: string): Promise<void> {
  for (let path = dirname(target); path.length > keep.length; path = dirname(path)) {
    if (!(await removeIfEmpty(path))) return
  }
}

async function setText(path: string, text: string | null, mode: number): Promise<void> {
  if (text === null) await rm(path, { force: true })
  else await writeFileAtomic(path, text, { mode })
}

/** Returns the missing parent folders of a path, the outermost first. */
async function missingAbove(path: string): Promise<string[]> {
  const found: string[] = []
  for (let folder = dirname(path); !(await isThere(folder)); folder = dirname(folder)) found.unshift(folder)
  return found
}

/** Removes an empty folder. Returns false when it is not empty or does not exist. */
async function removeIfEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY', 'EPERM', 'EACCES'].includes(String(code))) return false
    throw error
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
