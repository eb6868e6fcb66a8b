import { parseDuration } from '../../src/lib/duration.ts'
import type { BucketLimit } from './buckets/bucket.ts'
import { isWithin, within } from './whole-number.ts'

/** With these the arithmetic of buckets keeps to whole numbers. */
export const tokenCount = within(1, 1_000_000)
const LONGEST_MS = 30 * 24 * 3_600_000

/** What a run config says of one bucket, or what is wrong with it. */
export function toBucketLimit(said: { maxTokens: number; refillPeriod: string }): BucketLimit | string {
  const { maxTokens, refillPeriod } = said
  if (!isWithin(tokenCount, maxTokens)) {
    return `maxTokens is a whole number from 1 to ${tokenCount.maximum}, not ${maxTokens}`
  }
  const periodMs = Math.round(parseDuration(refillPeriod) ?? 0)
  if (periodMs < 1 || periodMs > LONGEST_MS) {
    return `refillPeriod is a duration such as 1m0s, from 1ms to 720h, not "${refillPeriod}"`
  }
  return { maxTokens, periodMs }
}
