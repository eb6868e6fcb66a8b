/** Bounds on what one workload may take of the egress proxy. */
export interface EgressLimits {
  /** Connections to one listener; more are closed at once. */
  readonly maxConnections: number
  readonly maxHeaderBytes: number
  /** For all headers of a request to arrive. */
  readonly headersMs: number
  /** For the next request on a kept connection. */
  readonly keepAliveMs: number
  /** For finding the name's addresses. */
  readonly resolveMs: number
  /** For reaching one of the addresses. */
  readonly connectMs: number
  /** Without a byte in either direction. */
  readonly idleMs: number
  /** The same once one side has said that it will send no more. */
  readonly halfOpenMs: number
  /** How often the times of incomplete requests are looked at. */
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
