import type { Log } from '../../../src/log.ts'

/** Logs what a server writes beside its messages, without letting it fill the log. */
export interface NoiseLog {
  report(what: string, sample?: string): void
}

const WINDOW_MS = 10_000
const PER_WINDOW = 5
const SAMPLE = 200

/** At most five lines in ten seconds; the next line after that says how many were left out. */
export function createNoiseLog(log: Log, now: () => number): NoiseLog {
  let windowStart = Number.NEGATIVE_INFINITY
  let inWindow = 0
  let leftOut = 0
  return {
    report(what, sample) {
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
