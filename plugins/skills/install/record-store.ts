import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { isMissing, readFileIfThere } from '../../../src/lib/atomic-file.ts'
import type { Log } from '../../../src/log.ts'
import { parseDocument } from '../../../src/parse-document.ts'
import { keyOf, type Place, USER } from './place.ts'
import { recordsSchema, type SkillRecord } from './record.ts'

export type Records = ReadonlyMap<string, SkillRecord>

/** The records of installed skills, one file for the user and one for each project: `<folder>/installed/<key>.json`. */
export interface RecordStore {
  pathOf(place: Place): string
  /** Reads the records of a place. A file with an invalid content is moved aside with a warning. */
  read(place: Place): Promise<Records>
  /** Returns the places that have a file, the user's first. */
  places(): Promise<Place[]>
  /** Returns the text of the file for these records; undefined when there are none. */
  toText(place: Place, records: Records): string | undefined
}

export function createRecordStore({ folder, log }: { folder: string; log: Log }): RecordStore {
  const installed = join(folder, 'installed')
  const pathOf = (place: Place) => join(installed, `${keyOf(place)}.json`)

  async function readFile(path: string): Promise<{ root: string | undefined; records: Records }> {
    const text = await readFileIfThere(path)
    if (text === undefined) return { root: undefined, records: new Map() }
    try {
      const { project_root, skills } = parseDocument(text, path, recordsSchema)
      const records = Object.entries(skills) as [string, SkillRecord][]
      return { root: project_root, records: new Map(records.sort(([a], [b]) => (a < b ? -1 : 1))) }
    } catch (error) {
      if (!isFailure(error, 'invalid_file')) throw error
      const aside = `${path}.unreadable`
      await rename(path, aside)
      log.warn(`${messageOf(error)} It was moved to ${aside}; the skills it named count as not installed.`)
      return { root: undefined, records: new Map() }
    }
  }

  return {
    pathOf,
    read: async place => (await readFile(pathOf(place))).records,
    async places() {
      const files = await readdir(installed).catch(error => {
        if (isMissing(error)) return []
        throw error
      })
      const roots: string[] = []
      for (const file of files.filter(file => file.endsWith('.json'))) {
        const { root } = await readFile(join(installed, file))
        if (root !== undefined) roots.push(root)
      }
      return [USER, ...roots.sort().map((root): Place => ({ scope: 'project', root }))]
    },
    toText(place, records) {
      if (records.size === 0) return undefined
      const skills = Object.fromEntries([...records].sort(([a], [b]) => (a < b ? -1 : 1)))
      const root = place.scope === 'project' ? { project_root: place.root } : {}
      return `${JSON.stringify({ ...root, skills }, null, 2)}\n`
    },
  }
}
