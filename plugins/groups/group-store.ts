import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../src/errors.ts'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { assertGroupName, type Group, parseGroup } from './group.ts'

const LOCK_SECONDS = 10

/** Groups as files: `<state>/groups/<name>.json`. */
export interface GroupStore {
  /** Fails with `invalid_file` when the file does not hold a group; the file stays. */
  find(name: string): Promise<Group | undefined>
  /** By name. A file that cannot be read leads to a warning and is passed to `onLeftOut`. */
  list(onLeftOut?: (path: string) => void): Promise<Group[]>
  /** Does the work while it holds the lock of the group, across all processes. */
  locked<T>(name: string, work: (file: GroupFile) => Promise<T>): Promise<T>
}

/** One group's file while its lock is held. */
export interface GroupFile {
  save(group: Group): Promise<void>
  remove(): Promise<void>
}

export function createGroupStore({ paths, log }: { paths: Pick<Paths, 'state'>; log: Log }): GroupStore {
  const folder = join(paths.state, 'groups')
  const pathOf = (name: string) => join(folder, `${name}.json`)

  async function find(name: string): Promise<Group | undefined> {
    assertGroupName(name)
    const text = await readFileIfThere(pathOf(name))
    return text === undefined ? undefined : parseGroup(text, pathOf(name), name)
  }

  return {
    find,
    async list(onLeftOut) {
      const files = await readdir(folder).catch(error => {
        if (isMissing(error)) return []
        throw error
      })
      const groups: Group[] = []
      for (const file of files.filter(file => file.endsWith('.json')).sort()) {
        try {
          const group = await find(file.slice(0, -'.json'.length))
          if (group) groups.push(group)
        } catch (error) {
          log.warn(`The group in ${join(folder, file)} is left out: ${messageOf(error)}`)
          onLeftOut?.(join(folder, file))
        }
      }
      return groups.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async locked(name, work) {
      assertGroupName(name)
      const path = `${pathOf(name)}.lock`
      const file: GroupFile = {
        save: group => writeFileAtomic(pathOf(name), `${JSON.stringify(group, null, 2)}\n`),
        remove: () => rm(pathOf(name), { force: true }),
      }
      return withFileLock(path, () => work(file), { seconds: LOCK_SECONDS })
    },
  }
}
