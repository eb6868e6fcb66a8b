import { type Bucket, type BucketLimit, isFull, refill, take, waitFor } from './bucket.ts'
import type { Buckets, Shortage, Take } from './buckets.ts'

/** The most buckets that are kept. A user has as many as there are limits for each user. */
const MOST_BUCKETS = 100_000
/** How many buckets are looked at whenever one is added: more than are added, so that full ones go. */
const STEPS = 8
/** Where all buckets were looked at and none was full, the next time to look, in milliseconds. */
const LOOK_AGAIN_MS = 1000

interface Entry {
  bucket: Bucket
  readonly limit: BucketLimit
}

/**
 * Keeps buckets in this process. A bucket that is full again is forgotten, which nobody can notice; none that lacks
 * something ever is. While there is no room for another one, whoever needs a new one has to wait.
 */
export function createMemoryBuckets({
  now = () => Math.floor(performance.now()),
  most = MOST_BUCKETS,
}: {
  /** Whole milliseconds of a clock that does not go back. */
  readonly now?: () => number
  readonly most?: number
} = {}): Buckets & { readonly size: number; take(takes: readonly Take[]): Shortage | undefined } {
  const entries = new Map<string, Entry>()
  let sweeper = entries.entries()
  let lookedAt = Number.NEGATIVE_INFINITY

  function sweep(time: number, steps: number): void {
    for (let step = 0; step < steps; step++) {
      const { done, value } = sweeper.next()
      if (done) {
        sweeper = entries.entries()
        return
      }
      const [key, { bucket, limit }] = value
      if (isFull(bucket, limit, time)) entries.delete(key)
    }
  }

  function hasRoom(added: number, time: number): boolean {
    if (added === 0) return true
    sweep(time, STEPS * added)
    if (entries.size + added <= most || time - lookedAt < LOOK_AGAIN_MS) return entries.size + added <= most
    lookedAt = time
    sweeper = entries.entries()
    sweep(time, entries.size)
    return entries.size + added <= most
  }

  return {
    take(takes) {
      const time = now()
      const buckets = takes.map(({ key, limit }) =>
        refill(entries.get(key)?.bucket ?? { debt: 0, at: time }, limit, time),
      )
      const shortage = longestWait(takes, buckets)
      if (shortage) return shortage
      const added = takes.findIndex(({ key }) => !entries.has(key))
      if (added >= 0 && !hasRoom(takes.filter(({ key }) => !entries.has(key)).length, time)) {
        return { index: added, waitMs: LOOK_AGAIN_MS }
      }
      for (const [index, { key, limit, tokens }] of takes.entries()) {
        entries.set(key, { bucket: take(buckets[index] as Bucket, limit, tokens), limit })
      }
      return undefined
    },
    close: () => entries.clear(),
    get size() {
      return entries.size
    },
  }
}

function longestWait(takes: readonly Take[], buckets: readonly Bucket[]): Shortage | undefined {
  let longest: Shortage | undefined
  for (const [index, { limit, tokens }] of takes.entries()) {
    const waitMs = waitFor(buckets[index] as Bucket, limit, tokens)
    if (waitMs > (longest?.waitMs ?? 0)) longest = { index, waitMs }
  }
  return longest
}
