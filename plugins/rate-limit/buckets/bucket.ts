/** How many tokens a bucket holds, and the time in which an empty one fills, in whole milliseconds. */
export interface BucketLimit {
  readonly maxTokens: number
  readonly periodMs: number
}

/**
 * A token bucket in whole numbers, so that nothing is lost or won by rounding. `debt` is what the bucket lacks, in
 * tokens times `periodMs`: a token that is taken adds `periodMs`, and each millisecond takes `maxTokens` away.
 * `maxTokens * periodMs` has to be a safe integer.
 */
export interface Bucket {
  readonly debt: number
  /** The time that the debt is of, in whole milliseconds. */
  readonly at: number
}

/** The bucket as it is at that time. A clock that goes back fills nothing and takes nothing. */
export function refill({ debt, at }: Bucket, { maxTokens, periodMs }: BucketLimit, now: number): Bucket {
  const elapsed = Math.min(Math.max(0, now - at), periodMs)
  // A limit that was lowered leaves a bucket that is empty at most.
  return { debt: Math.max(0, Math.min(debt, maxTokens * periodMs) - elapsed * maxTokens), at: now }
}

/** Milliseconds until a bucket, as `refill` returned it, has that many tokens; 0: it has them now. */
export function waitFor({ debt }: Bucket, { maxTokens, periodMs }: BucketLimit, tokens: number): number {
  const excess = debt + (Math.min(tokens, maxTokens) - maxTokens) * periodMs
  if (excess > 0) return Math.ceil(excess / maxTokens)
  return tokens > maxTokens ? periodMs : 0 // more than it can ever hold
}

export const take = ({ debt, at }: Bucket, { periodMs }: BucketLimit, tokens: number): Bucket => ({
  debt: debt + tokens * periodMs,
  at,
})

/** Whether nobody can tell it from a new one. */
export const isFull = (bucket: Bucket, limit: BucketLimit, now: number): boolean =>
  refill(bucket, limit, now).debt === 0
