/** Bounds of one bridge. Nothing a server or a client does takes more than these. */
export interface BridgeLimits {
  /** Longest line a server may write, in bytes; beyond it the line is thrown away. */
  readonly maxLine: number
  /** Requests that wait for an answer of the server, over all sessions. */
  readonly maxPending: number
  /** Bytes that wait to be read by the server. */
  readonly maxQueuedBytes: number
  readonly maxSessions: number
  /** A session idle this long may be closed for a new one when `maxSessions` is reached. */
  readonly reclaimAfterMs: number
  /** Time for an answer; progress starts it anew, and a question to the client stops it. */
  readonly requestTimeoutMs: number
  /** How long a request on a broken event stream is kept for a client that resumes. */
  readonly resumeGraceMs: number
  readonly keepAliveMs: number
  /** Events kept for one session: what was not sent yet, and what may be asked for again. */
  readonly maxEvents: number
  readonly maxEventBytes: number
  /** The same over all sessions. */
  readonly maxTotalEventBytes: number
  /** How long a sent event may be asked for again. */
  readonly keepEventsMs: number
  /** Requests of the server that wait for one client. */
  readonly maxServerRequests: number
  /** Resources one session may be subscribed to. */
  readonly maxSubscriptions: number
  /** Event streams one session may hold open beside its requests. */
  readonly maxStreams: number
  /** How often time-outs are looked for. One timer for everything, and none while there is nothing to watch. */
  readonly sweepMs: number
}

export const DEFAULT_LIMITS: BridgeLimits = {
  maxLine: 32 * 1024 * 1024,
  maxPending: 20_000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxSessions: 10_000,
  reclaimAfterMs: 5 * 60_000,
  requestTimeoutMs: 5 * 60_000,
  resumeGraceMs: 30_000,
  keepAliveMs: 15_000,
  maxEvents: 2000,
  maxEventBytes: 8 * 1024 * 1024,
  maxTotalEventBytes: 64 * 1024 * 1024,
  keepEventsMs: 60_000,
  maxServerRequests: 1000,
  maxSubscriptions: 10_000,
  maxStreams: 8,
  sweepMs: 1000,
}
