import { type FSWatcher, mkdirSync, watch } from 'node:fs'
import { messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'

/** How long to wait for further writes of the same change, in milliseconds. */
const SETTLE_MS = 30
/** How often it is called without a write, as a host that was killed writes nothing; in milliseconds. */
const LOOK_MS = 5000

/**
 * Calls `look` when documents in the folders may have changed, never twice at a time. Returns the function that ends
 * that.
 */
export function watchDocuments(
  folders: readonly string[],
  { look, log }: { look: () => Promise<void>; log: Log },
): () => void {
  let pending: NodeJS.Timeout | undefined
  let isLooking = false
  let again = false

  async function run(): Promise<void> {
    again = isLooking
    if (isLooking) return
    isLooking = true
    await look().catch((error: unknown) =>
      log.warn(`Changes of workloads cannot be read: ${messageOf(error)}`),
    )
    isLooking = false
    if (again) void run()
  }

  function settle(): void {
    pending ??= setTimeout(() => {
      pending = undefined
      void run()
    }, SETTLE_MS)
  }

  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const watcher = watch(folder, settle)
      watcher.on('error', error => log.debug(`${folder} is no longer watched: ${error.message}`))
      return [watcher.unref()]
    } catch (error) {
      log.debug(`${folder} cannot be watched: ${messageOf(error)}`) // the timer still finds the changes
      return []
    }
  })
  const timer = setInterval(() => void run(), LOOK_MS).unref()
  return () => {
    again = false
    clearInterval(timer)
    clearTimeout(pending)
    for (const watcher of watchers) watcher.close()
  }
}
