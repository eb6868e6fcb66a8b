import type { Log } from '../../../src/log.ts'

/** Logs warnings that a server or client can cause at will, so that they cannot fill the log. */
export interface LimitedLog {
  warn(what: string, sample?: string): void
}

const WINDOW_MS = 10_000
const PER_WINDOW = 5
const SAMPLE = 200

/** At most five lines in ten seconds; the next line after that says how many were left out. */
export function createLimitedLog(log: Log, now: () => number): LimitedLog {
  let windowStart = Number.NEGATIVE_INFINITY
  let inWindow = 0
  let leftOut = 0
  return {
    warn(what, sample) {
      const time = now()
      if (time - windowStart >= WINDOW_MS) {
        windowStart = time
        inWindow = 0
      }
      inWindow += 1
      if (inWindow > PER_WINDOW) {
        leftOut += 1
        return
      }
      const text = sample && Buffer.from(sample.slice(0, SAMPLE), 'latin1').toString('utf8')
      log.warn(what, {
        ...(text === undefined ? {} : { line: text, bytes: sample?.length }),
        ...(leftOut ? { similarLeftOut: leftOut } : {}),
      })
      leftOut = 0
    },
  }
}
