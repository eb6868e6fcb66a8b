import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

/** How long other programs are watched, in milliseconds. */
const WATCH_MS = 2000

function times(): { idle: number; all: number } {
  const sums = cpus().map(({ times }) => ({
    idle: times.idle,
    all: Object.values(times).reduce((sum, time) => sum + time, 0),
  }))
  return {
    idle: sums.reduce((sum, one) => sum + one.idle, 0),
    all: sums.reduce((sum, one) => sum + one.all, 0),
  }
}

/**
 * How many cores other programs use now, while this one waits. The load average would count the benchmark before for a
 * minute.
 */
export async function busyCores(): Promise<number> {
  const before = times()
  await delay(WATCH_MS)
  const after = times()
  return (1 - (after.idle - before.idle) / (after.all - before.all)) * cpus().length
}
