import { type FSWatcher, mkdirSync, watch } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { Member, Members } from './members.ts'

/** How long to wait for further writes of the same change, in milliseconds. */
const SETTLE_MS = 50
/** How often it is looked without a write, in milliseconds: a host that was killed writes nothing. */
const LOOK_MS = 5000

/** Members that are read anew when a file in one of the folders changes. */
export interface WatchedMembers extends Members {
  /** Reads them once more. Resolves when `current` is what was read. */
  look(): Promise<void>
  close(): void
}

export function watchMembers(options: {
  /** Where files are written when something changes. */
  folders: readonly string[]
  read: () => Promise<readonly Member[]>
  log: Log
}): WatchedMembers {
  const { folders, read, log } = options
  const listeners = new Set<() => void>()
  let current: readonly Member[] = []
  let pending: NodeJS.Timeout | undefined

  let looking: Promise<void> = Promise.resolve()
  const look = (): Promise<void> => {
    looking = looking.then(compare)
    return looking
  }

  async function compare(): Promise<void> {
    try {
      const found = await read()
      if (isDeepStrictEqual(found, current)) return
      current = found
      for (const hear of listeners) hear()
    } catch (error) {
      log.warn(`The servers of the endpoint cannot be read: ${messageOf(error)}`)
    }
  }

  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const watcher = watch(folder, () => {
        pending ??= setTimeout(() => {
          pending = undefined
          void look()
        }, SETTLE_MS)
      })
      return [watcher.on('error', () => undefined).unref()]
    } catch {
      return [] // the timer still finds the changes
    }
  })
  const timer = setInterval(() => void look(), LOOK_MS).unref()

  return {
    get current() {
      return current
    },
    onChange(hear) {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    look,
    close() {
      clearInterval(timer)
      clearTimeout(pending)
      for (const watcher of watchers) watcher.close()
      listeners.clear()
    },
  }
}
