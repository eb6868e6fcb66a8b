import type { BucketLimit } from './bucket.ts'

/** What is taken from one bucket. */
export interface Take {
  readonly key: string
  readonly limit: BucketLimit
  readonly tokens: number
}

/** Why nothing was taken. */
export interface Shortage {
  /** The place of the take that has to wait longest. */
  readonly index: number
  /** Milliseconds until there are enough tokens. */
  readonly waitMs: number
}

/** Undefined: all was taken. `away`: nobody can say. */
export type Outcome = Shortage | 'away' | undefined

/** All buckets of a workload. */
export interface Buckets {
  /** Takes all or nothing. */
  take(takes: readonly Take[]): Outcome | Promise<Outcome>
  close(): void
}
