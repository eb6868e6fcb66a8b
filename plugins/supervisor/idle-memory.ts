import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns memory to the machine after a burst. */
export interface IdleMemory {
  /** To be called every few seconds. Collects garbage when enough of it may be there and nothing happens. */
  check(): void
}

/** How much the process must have grown since the last collection, in bytes. */
const MOST_GROWTH = 64 * 2 ** 20
/** A process that works more of its time than this has no time to spare, and collects garbage as it allocates. */
const QUIET = 0.05
/** How many checks in a row must find it quiet: a collection takes 30 to 120 ms, in which calls wait. */
const QUIET_CHECKS = 3

/**
 * V8 collects garbage when a program allocates, so the garbage of a burst stays until the next one: 300 MB after 10,000
 * calls in flight. It also keeps freed pages for later, unless memory is the last resort.
 */
export function createIdleMemory({
  utilization = measureUtilization(),
  resident = process.memoryUsage.rss,
  collect = collectGarbage,
}: {
  /** The part of the time since it was last asked in which the process worked, from 0 to 1. */
  utilization?: () => number
  /** In bytes. */
  resident?: () => number
  collect?: () => void
} = {}): IdleMemory {
  let kept = 0
  let quietChecks = 0
  return {
    check() {
      quietChecks = utilization() > QUIET ? 0 : quietChecks + 1
      if (quietChecks < QUIET_CHECKS || resident() - kept < MOST_GROWTH) return
      collect()
      kept = resident()
    },
  }
}

function measureUtilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}

/** Collects all garbage, and gives freed pages back. There is no other way to V8's `gc` without a flag for Node. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: object) => void
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}
