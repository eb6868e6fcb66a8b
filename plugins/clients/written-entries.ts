import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { isFailure, messageOf } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Log } from '../../src/log.ts'
import { parseDocument } from '../../src/parse-document.ts'

/** What we wrote: client → server → what its entry may lead to (two while one replaces the other). */
export type WrittenEntries = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/**
 * The record of what we wrote into clients' files, `<state>/clients/written.json`: it tells our entries
 * from the user's. It is written before the files are, so a kill in between never turns ours into theirs.
 */
export interface WrittenEntriesStore {
  read(): Promise<WrittenEntries>
  save(written: WrittenEntries): Promise<void>
}

const schema = t.isRecord(t.isRecord(t.isArray(t.isString())))

export function createWrittenEntriesStore({ state, log }: { state: string; log: Log }): WrittenEntriesStore {
  const path = join(state, 'clients', 'written.json')
  return {
    async read() {
      const text = await readFileIfThere(path)
      if (text === undefined) return new Map()
      try {
        const document = parseDocument(text, path, schema)
        return new Map(
          Object.entries(document).map(([client, servers]) => [client, new Map(Object.entries(servers))]),
        )
      } catch (error) {
        if (!isFailure(error)) throw error
        await rename(path, `${path}.corrupted`)
        log.error(`${messageOf(error)} It was set aside; entries in clients' files now count as your own.`)
        return new Map()
      }
    },
    async save(written) {
      const document = Object.fromEntries(
        [...written]
          .filter(([, servers]) => servers.size > 0)
          .map(([client, servers]) => [client, Object.fromEntries(servers)]),
      )
      await writeFileAtomic(path, `${JSON.stringify(document, null, 2)}\n`)
    },
  }
}
