/** The limits of one bridge, which no server or client can exceed. */
export interface BridgeLimits {
  /** The longest line of a server, in bytes. A longer line is skipped. */
  readonly maxLine: number
  /** The most requests of all sessions that wait for a response of the server. */
  readonly maxPending: number
  /** The most bytes that wait until the server reads them. */
  readonly maxQueuedBytes: number
  readonly maxSessions: number
  /** When `maxSessions` is reached, a session that was idle for this long may be closed for a new one. */
  readonly reclaimAfterMs: number
  /** The longest time for a response. Progress starts it anew; while the server waits for the client it stops. */
  readonly requestTimeoutMs: number
  /** How long the head of a response waits for the first message of its call, which decides its content type. */
  readonly holdHeadMs: number
  /** How long a request on a broken event stream is kept for a client that resumes. */
  readonly resumeGraceMs: number
  /** How long a server may go on with a call that was cancelled or timed out, so that its messages reach nobody. */
  readonly givenUpMs: number
  readonly keepAliveMs: number
  /** The most events kept for one session: unsent ones, and sent ones that a client may ask for again. */
  readonly maxEvents: number
  readonly maxEventBytes: number
  /** The same over all sessions. */
  readonly maxTotalEventBytes: number
  /** How far a connected client may be behind before the server is read slower. */
  readonly maxBehindEvents: number
  readonly maxBehindBytes: number
  /** How long the server is read slower for a client that is behind. All clients wait as long. */
  readonly stallMs: number
  /** The same for one client in a minute. One that has not read for `stallMs` has used it up. */
  readonly maxWaitMs: number
  /** How long a sent event may be asked for again. */
  readonly keepEventsMs: number
  /** The most requests of the server that wait for one client. */
  readonly maxServerRequests: number
  /** The most resources that one session may be subscribed to. */
  readonly maxSubscriptions: number
  /** The most bytes of their URIs. */
  readonly maxSubscriptionBytes: number
  /** The most bytes of URIs in the one `subscriptions/listen` of all clients. Servers limit the length of a line. */
  readonly maxListenBytes: number
  /** The most event streams that one session may have open besides those of its requests. */
  readonly maxStreams: number
  /** The most calls of clients of 2026-07-28 that wait for the input of their client. */
  readonly maxParked: number
  /** How long such a call waits; then it is cancelled at the server. */
  readonly parkedMs: number
  /** How often time-outs are checked. One timer does it, and only while there are calls or sessions. */
  readonly sweepMs: number
}

export const DEFAULT_LIMITS: Omit<BridgeLimits, 'requestTimeoutMs'> = {
  maxLine: 32 * 1024 * 1024,
  maxPending: 20_000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxSessions: 10_000,
  reclaimAfterMs: 5 * 60_000,
  holdHeadMs: 100,
  resumeGraceMs: 30_000,
  givenUpMs: 2 * 60_000,
  keepAliveMs: 15_000,
  maxEvents: 5000,
  maxEventBytes: 8 * 1024 * 1024,
  maxBehindEvents: 256,
  maxBehindBytes: 1024 * 1024,
  stallMs: 5000,
  maxWaitMs: 30_000,
  maxTotalEventBytes: 64 * 1024 * 1024,
  keepEventsMs: 60_000,
  maxServerRequests: 1000,
  maxSubscriptions: 10_000,
  maxSubscriptionBytes: 1024 * 1024,
  maxListenBytes: 4 * 1024 * 1024,
  maxStreams: 8,
  maxParked: 2000,
  parkedMs: 10 * 60_000,
  sweepMs: 1000,
}
