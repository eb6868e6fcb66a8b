import { isFailure, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'

/** Work that goes on after the response of its request. */
export interface BackgroundWork {
  /** Starts work. A failure is logged. */
  start(what: string, work: () => Promise<void>): void
  /** Resolves when all of it is done. */
  settled(): Promise<unknown>
}

export function createBackgroundWork({ log }: { log: Log }): BackgroundWork {
  const running = new Set<Promise<void>>()
  return {
    start(what, work) {
      const done = work().catch(error => {
        if (isFailure(error)) log.warn(`${what}: ${messageOf(error)}`)
        else log.error(`${what} failed.`, { stack: error instanceof Error ? error.stack : String(error) })
      })
      const entry = done.finally(() => running.delete(entry))
      running.add(entry)
    },
    settled: () => Promise.all(running),
  }
}
