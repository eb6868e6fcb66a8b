/** Limits for one workload at the egress proxy. Times are in milliseconds. */
export interface EgressLimits {
  /** Most connections to one listener; further ones are closed at once. */
  readonly maxConnections: number
  readonly maxHeaderBytes: number
  /** Time for all headers of a request to arrive. */
  readonly headersMs: number
  /** Time until the next request on a kept connection. */
  readonly keepAliveMs: number
  /** Time for finding the name's addresses. */
  readonly resolveMs: number
  /** Time for connecting to one of the addresses. */
  readonly connectMs: number
  /** Time without a byte in either direction. */
  readonly idleMs: number
  /** The same, after one side has ended its direction. */
  readonly halfOpenMs: number
  /** Time between checks for incomplete requests. */
  readonly checkMs: number
}

export const EGRESS_LIMITS: EgressLimits = {
  maxConnections: 512,
  maxHeaderBytes: 32 * 1024,
  headersMs: 10_000,
  keepAliveMs: 30_000,
  resolveMs: 10_000,
  connectMs: 15_000,
  idleMs: 15 * 60_000,
  halfOpenMs: 60_000,
  checkMs: 10_000,
}
