import { expect, test } from 'vitest'
import { collectGarbage, createIdleMemory } from '../../../plugins/supervisor/idle-memory.ts'

const MB = 2 ** 20

/** Checks once for each utilization; returns how often garbage was collected, each time down to 80 MB. */
function collectionsOf(checks: readonly { utilization: number; residentMb: number }[]): number {
  let [at, resident, collections] = [0, 0, 0]
  const memory = createIdleMemory({
    utilization: () => checks[at]?.utilization ?? 0,
    resident: () => resident,
    collect() {
      collections++
      resident = 80 * MB
    },
  })
  for (; at < checks.length; at++) {
    resident = (checks[at]?.residentMb ?? 0) * MB
    memory.check()
  }
  return collections
}

const quiet = { utilization: 0.01, residentMb: 400 }
const busy = { utilization: 0.2, residentMb: 400 }
const small = { utilization: 0.01, residentMb: 100 }

test('a process that has been quiet for a while returns memory, once', () => {
  expect(collectionsOf([busy, quiet, quiet])).toBe(0)
  expect(collectionsOf([busy, quiet, quiet, quiet, small, small, small])).toBe(1)
})

test('a process that works collects no garbage on purpose', () => {
  expect(collectionsOf([quiet, quiet, busy, quiet, quiet, busy, quiet, quiet])).toBe(0)
})

test('a process that has grown again returns memory again', () => {
  expect(collectionsOf([quiet, quiet, quiet, small, busy, quiet, quiet, quiet])).toBe(2)
})

test('a collection returns the memory of a burst to the machine', () => {
  let burst: object[] | undefined = Array.from({ length: 2_000_000 }, (_, i) => ({ i, list: [i] }))
  const before = process.memoryUsage.rss()
  expect(burst).toHaveLength(2_000_000)
  burst = undefined
  collectGarbage()
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(100 * MB)
})
