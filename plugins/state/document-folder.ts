import { rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Failure, isFailure, messageOf } from '../../src/errors.ts'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Log } from '../../src/log.ts'
import { createDocumentCache } from './document-cache.ts'
import { failures } from './failures.ts'
import { assertWorkloadName, isWorkloadName } from './workload-name.ts'

/** One JSON document per workload in one folder: 2-space JSON, mode 0600. */
export interface DocumentFolder<T> {
  path(name: string): string
  /** Fails with `workload_unreadable`, having set the file aside when its content is wrong and `damaged` says so. */
  find(name: string): Promise<T | undefined>
  /** Those that can be read, by name. */
  list(): Promise<Map<string, T>>
  /** What is wrong with those that cannot be read, by name; only where they stay. */
  problems(): Promise<Map<string, Failure>>
  save(name: string, document: T): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
}

export function createDocumentFolder<T extends object>(options: {
  folder: string
  /** Makes a document of the text, or throws a Failure that says what is wrong. */
  parse: (text: string, path: string, name: string) => T
  /** What becomes of a file whose content is wrong: it is set aside with a warning, or stays for its user to repair. */
  damaged: 'aside' | 'stays'
  log: Log
}): DocumentFolder<T> {
  const { folder, parse, damaged, log } = options
  const path = (name: string) => join(folder, `${name}.json`)
  const cache = createDocumentCache(folder, (text, file) => parse(text, file, basename(file, '.json')))

  async function find(name: string): Promise<T | undefined> {
    assertWorkloadName(name)
    const file = path(name)
    const text = await readFileIfThere(file).catch(error => {
      throw failures.workload_unreadable({ name, problem: messageOf(error) }, { cause: error })
    })
    if (text === undefined) return undefined
    try {
      return parse(text, file, name)
    } catch (error) {
      if (!isFailure(error)) throw error
      throw failures.workload_unreadable(
        { name, problem: error.message, ...(damaged === 'aside' ? { aside: await setAside(file) } : {}) },
        { cause: error },
      )
    }
  }

  /** A file that cannot be read like that is read again on its own, for what is wrong. */
  function read(name: string, file: string): T | undefined | Promise<T | undefined> {
    try {
      return cache.read(file, path(name))
    } catch {
      return find(name)
    }
  }

  async function readAll() {
    const documents = new Map<string, T>()
    const problems = new Map<string, Failure>()
    const files = cache.files()
    for (const file of files) {
      const name = file.slice(0, -'.json'.length)
      if (!file.endsWith('.json') || !isWorkloadName(name)) continue
      try {
        const document = await read(name, file)
        if (document !== undefined) documents.set(name, document)
      } catch (error) {
        if (damaged === 'stays' && isFailure(error)) problems.set(name, error)
        else log.warn(messageOf(error), { workload: name })
      }
    }
    cache.keepOnly(new Set(files))
    return { documents, problems }
  }

  return {
    path,
    find,
    list: async () => (await readAll()).documents,
    problems: async () => (await readAll()).problems,
    async save(name, document) {
      assertWorkloadName(name)
      await writeFileAtomic(path(name), `${JSON.stringify(document, undefined, 2)}\n`)
    },
    async remove(name) {
      assertWorkloadName(name)
      await rm(path(name), { force: true })
    },
  }
}

/** Renames a file to `<file>.corrupted`, or with a number when an earlier one is there. */
async function setAside(file: string): Promise<string> {
  for (let number = 1; ; number++) {
    const aside = number === 1 ? `${file}.corrupted` : `${file}.corrupted-${number}`
    const taken = await stat(aside).then(
      () => true,
      () => false,
    )
    if (taken) continue
    await rename(file, aside).catch(error => {
      if (!isMissing(error)) throw error // another process was faster
    })
    return aside
  }
}
