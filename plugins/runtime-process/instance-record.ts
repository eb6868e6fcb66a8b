import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'typanion'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { parseDocument } from '../../src/parse-document.ts'

/** What is kept of an instance on disk. Never its environment, which may hold secrets. */
export interface InstanceRecord {
  id: string
  name: string
  image: string
  labels: Record<string, string>
  stdio: boolean
  sandboxed: boolean
  ports: number[]
  /** It is in a network of its own. The name is the one that earlier versions wrote. */
  enclosed?: boolean
  /** Folders of its control groups. */
  groups?: string[]
  created_at: string
  /** Its last process: the leader of its own process group. */
  process?: LeaderRecord
}

export interface LeaderRecord {
  /** See `processIdentity`. */
  identity: string
  started_at: string
  /** The process that holds its streams. The instance must end with that process. */
  owner?: string
}

/** How a process ended, written by the process that started it. */
export interface ExitRecord {
  identity: string
  code?: number
  reason?: string
}

const leader = t.isObject({
  identity: t.isString(),
  started_at: t.isString(),
  owner: t.isOptional(t.isString()),
})
const record = t.isObject(
  {
    id: t.isString(),
    name: t.isString(),
    image: t.isString(),
    labels: t.isRecord(t.isString()),
    stdio: t.isBoolean(),
    sandboxed: t.isBoolean(),
    ports: t.isArray(t.isNumber()),
    enclosed: t.isOptional(t.isBoolean()),
    groups: t.isOptional(t.isArray(t.isString())),
    created_at: t.isString(),
    process: t.isOptional(leader),
  },
  { extra: t.isUnknown() },
)
const exit = t.isObject({
  identity: t.isString(),
  code: t.isOptional(t.isNumber()),
  reason: t.isOptional(t.isString()),
})

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
      return text === undefined
        ? undefined
        : (parseDocument(text, recordPath(name), record) as InstanceRecord)
    },

    async write(value: InstanceRecord): Promise<void> {
      await mkdir(join(place(value.name), 'home'), { recursive: true, mode: 0o700 })
      await writeFileAtomic(recordPath(value.name), JSON.stringify(value, null, 2))
    },

    /** How the process of this identity ended, if that was recorded. */
    async readExit(name: string, identity: string): Promise<ExitRecord | undefined> {
      const text = await readFileIfThere(exitPath(name))
      const value = text === undefined ? undefined : (parseDocument(text, exitPath(name), exit) as ExitRecord)
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
