import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import {
  bool,
  closed,
  list,
  number,
  object,
  optional,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'
import { parseDocument } from '../../src/parse-document.ts'

const leader = object(
  {
    /** See `processIdentity`. */
    identity: text,
    started_at: text,
    /** The process that holds its streams. The instance must end with that process. */
    owner: optional(text),
  },
  closed,
)

const record = object({
  id: text,
  name: text,
  image: text,
  labels: textMap,
  stdio: bool,
  sandboxed: bool,
  ports: list(number),
  /** It is in a network of its own. The name is the one that earlier versions wrote. */
  enclosed: optional(bool),
  /** Folders of its control groups. */
  groups: optional(texts),
  created_at: text,
  /** Its last process: the leader of its own process group. */
  process: optional(leader),
})

/** What is kept of an instance on disk. Never its environment, which may hold secrets. */
export type InstanceRecord = TypeOf<typeof record>

const exit = object({ identity: text, code: optional(number), reason: optional(text) }, closed)

/** How a process ended, written by the process that started it. */
export type ExitRecord = TypeOf<typeof exit>

export type InstanceRecords = ReturnType<typeof createInstanceRecords>

/**
 * Instances as folders: `<name>/instance.json`, `exit.json`, `log`, `home/`. A folder without the first is
 * not an instance.
 */
export function createInstanceRecords(folder: string) {
  const place = (name: string) => join(folder, name)
  const recordPath = (name: string) => join(place(name), 'instance.json')
  const exitPath = (name: string) => join(place(name), 'exit.json')

  return {
    home: (name: string) => join(place(name), 'home'),
    log: (name: string) => join(place(name), 'log'),
    /** Beside the folder, since it has to outlive it. */
    lock: (name: string) => join(folder, `.${name}.lock`),

    async read(name: string): Promise<InstanceRecord | undefined> {
      const text = await readFileIfThere(recordPath(name))
      return text === undefined ? undefined : parseDocument(text, recordPath(name), record)
    },

    async write(value: InstanceRecord): Promise<void> {
      await mkdir(join(place(value.name), 'home'), { recursive: true, mode: 0o700 })
      await writeFileAtomic(recordPath(value.name), JSON.stringify(value, null, 2))
    },

    /** How the process of this identity ended, if that was recorded. */
    async readExit(name: string, identity: string): Promise<ExitRecord | undefined> {
      const text = await readFileIfThere(exitPath(name))
      const value = text === undefined ? undefined : parseDocument(text, exitPath(name), exit)
      return value?.identity === identity ? value : undefined
    },

    /** Only into a folder that is still there: an instance may be removed while its process ends. */
    async writeExit(name: string, value: ExitRecord): Promise<void> {
      const current = await this.read(name).catch(() => undefined)
      if (current?.process?.identity !== value.identity) return
      await writeFileAtomic(exitPath(name), JSON.stringify(value), { makeFolder: false }).catch(error => {
        if (!isMissing(error)) throw error
      })
    },

    async names(): Promise<string[]> {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
      return entries
        .filter(entry => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(entry => entry.name)
    },

    /** Renames the folder, so that it is gone at once for all readers, then deletes it. */
    async remove(name: string): Promise<void> {
      const trash = join(folder, `.${name}.${randomBytes(4).toString('hex')}.removed`)
      await rename(place(name), trash).catch(() => undefined)
      const left = (await readdir(folder).catch(() => [])).filter(
        entry => entry.startsWith(`.${name}.`) && entry.endsWith('.removed'),
      )
      await Promise.all(left.map(entry => rm(join(folder, entry), { recursive: true, force: true })))
    },
  }
}
