/** Waits and limits of the workload host, in milliseconds except `attempts`. */
export interface Times {
  /** Waits before each restart; the last one repeats. */
  readonly delays: readonly number[]
  /** Restarts in a row before a workload is given up. */
  readonly attempts: number
  /** A run of this length resets the count of crashes. */
  readonly stable: number
  /** How long a server may take to respond before it counts as unhealthy. */
  readonly ready: number
  /** How long a remote server may take to respond when it is first used. */
  readonly remote: number
  /** How often an HTTP server is asked whether it still responds. */
  readonly health: number
  /** How long a stdio server may take to respond before it counts as running without that. */
  readonly answer: number
  /** How long a stdio server that is sent no `ping` must run to count as started, unless it responds before. */
  readonly settle: number
  /** How often a starting instance is inspected, in case its exit was not reported. */
  readonly poll: number
  /** How long requests in flight may take when a workload is stopped. */
  readonly grace: number
  /** How long requests in flight may take when a newer server replaces theirs. */
  readonly drain: number
}

export const TIMES: Times = {
  delays: [1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000],
  attempts: 10,
  stable: 30_000,
  ready: 300_000,
  remote: 10_000,
  health: 30_000,
  answer: 15_000,
  settle: 750,
  poll: 2000,
  grace: 5000,
  drain: 30_000,
}
