import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as t from 'typanion'
import { writeFileAtomic } from '../../src/lib/atomic-file.ts'

/**
 * Finds the workload that crashes its host.
 *
 * A name is on disk while that workload starts. A name that is there when a host starts was being started
 * when the last host crashed: a single name counts as the cause, several are suspects, which the new host
 * starts one at a time. An uncaught error whose workload is known counts at once.
 */
export interface CrashJournal {
  /** Attributes the work, with all its callbacks, to that workload. */
  attribute<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Keeps the name on disk while the workload starts. */
  trackStart<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Workloads to start one at a time. */
  suspects(): ReadonlySet<string>
  /** Whether it crashed its host too often to be started automatically. */
  isQuarantined(name: string): boolean
  /**
   * Notes which workload an uncaught error belongs to, synchronously, because the process exits next.
   * `crashes`: how many hosts have crashed this way lately.
   */
  recordCrash(): { workload: string | undefined; crashes: number }
  /** Counts a start of the host, and returns how many there were within five minutes. */
  countStart(): Promise<number>
}

const WINDOW = 5 * 60_000
const LIMIT = 3
/** Not a valid workload name. */
const UNKNOWN = '?'
/** Key of the starts of hosts; not a valid workload name either. */
const STARTS = '!'
/** How long a suspect is started alone, in milliseconds. */
const WATCHED = 1000

interface Notes {
  inFlight: string[]
  suspects: string[]
  crashes: Record<string, number[]>
}

const schema = t.isObject({
  inFlight: t.isArray(t.isString()),
  suspects: t.isArray(t.isString()),
  crashes: t.isRecord(t.isArray(t.isNumber())),
})

export function createCrashJournal(options: {
  path: string
  now: () => number
  delay: (ms: number) => Promise<void>
}): CrashJournal {
  const { path, now, delay } = options
  const before = read(path)
  const current = new AsyncLocalStorage<string>()
  const inFlight = new Map<string, number>()
  const suspects = new Set([...before.suspects, ...before.inFlight])
  const crashes = new Map(Object.entries(before.crashes))
  function count(name: string): void {
    crashes.set(name, [...recent(name), now()])
  }
  const recent = (name: string) => (crashes.get(name) ?? []).filter(at => now() - at < WINDOW)

  const [only, ...others] = before.inFlight
  if (only !== undefined && others.length === 0) count(only)

  const text = (names: Iterable<string>) => {
    const notes: Notes = { inFlight: [...names], suspects: [...suspects], crashes: {} }
    for (const name of crashes.keys()) {
      const times = recent(name)
      if (times.length) notes.crashes[name] = times
    }
    return `${JSON.stringify(notes)}\n`
  }

  let saving = Promise.resolve()
  let queued: Promise<void> | undefined
  /** Calls during a write share the next write. */
  function save(): Promise<void> {
    queued ??= saving.then(() => {
      queued = undefined
      saving = writeFileAtomic(path, text(inFlight.keys())).catch(() => undefined)
      return saving
    })
    return queued
  }

  const change = (name: string, by: number) => {
    const left = (inFlight.get(name) ?? 0) + by
    if (left > 0) inFlight.set(name, left)
    else inFlight.delete(name)
    return save()
  }

  return {
    attribute: (name, work) => current.run(name, work),
    async trackStart(name, work) {
      await change(name, 1)
      try {
        return await current.run(name, work)
      } finally {
        if (suspects.has(name)) {
          await delay(WATCHED)
          suspects.delete(name)
        }
        await change(name, -1)
      }
    },
    async countStart() {
      count(STARTS)
      await save()
      return recent(STARTS).length
    },
    suspects: () => suspects,
    isQuarantined: name => recent(name).length >= LIMIT,
    recordCrash() {
      const workload = current.getStore()
      count(workload ?? UNKNOWN)
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(`${path}.tmp`, text(workload === undefined ? inFlight.keys() : []), { mode: 0o600 })
      renameSync(`${path}.tmp`, path)
      return { workload, crashes: [...crashes.keys()].filter(name => name !== STARTS).flatMap(recent).length }
    },
  }
}

/** The notes of the last host; empty when they cannot be read. */
function read(path: string): Notes {
  const nothing: Notes = { inFlight: [], suspects: [], crashes: {} }
  try {
    const notes: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return schema(notes) ? notes : nothing
  } catch {
    return nothing
  }
}
