import type { IncomingMessage } from 'node:http'
import { callerOf, createRateLimit } from '../../../src/http/rate-limit.ts'

/** Returns the address that a request comes from; undefined where it has none. */
export type AddressOf = (request: IncomingMessage) => string | undefined

/** How many a second, and how many at once. */
interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Returns undefined for a request that may go on, else the seconds after which it may be tried again. */
export type FloodLimit = (request: IncomingMessage) => number | undefined

/**
 * Limits what strangers can have done. Who does too much at one address does not use up what all have together, so that
 * nobody can lock out everybody else.
 */
export function createFloodLimit({
  each,
  all,
  addressOf,
  now,
}: {
  readonly each: Rate
  readonly all: Rate
  readonly addressOf: AddressOf
  readonly now: () => number
}): FloodLimit {
  const ofOne = createRateLimit({ ...each, now })
  const ofAll = createRateLimit({ ...all, now })
  return request => ofOne.take(callerOf(addressOf(request))) ?? ofAll.take('all')
}
