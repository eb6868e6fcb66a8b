import { isIPv6 } from 'node:net'

/** Refuses callers that send too many requests. */
export interface RateLimit {
  /** Counts a request of a caller. When there were too many, returns the seconds after which it may try again. */
  take(caller: string): number | undefined
}

/** Most callers that are counted. The one whose last request is the oldest is dropped first. */
const MOST_CALLERS = 10_000

/**
 * A bucket of tokens for each caller: `perSecond` come in, at most `burst` of them are saved up (absent: ten seconds'
 * worth), a request takes one. Nothing is limited at 0.
 */
export function createRateLimit({
  perSecond,
  burst: most = perSecond * 10,
  now,
}: {
  perSecond: number
  burst?: number
  now: () => number
}): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return {
    take(caller) {
      if (perSecond === 0) return undefined
      const time = now()
      const { tokens, at } = buckets.get(caller) ?? { tokens: most, at: time }
      const filled = Math.min(most, tokens + ((time - at) / 1000) * perSecond)
      const left = filled < 1 ? filled : filled - 1
      buckets.delete(caller) // and to the end, so that the first is who was quiet longest
      buckets.set(caller, { tokens: left, at: time })
      const [quietest] = buckets.keys()
      if (buckets.size > MOST_CALLERS && quietest !== undefined) buckets.delete(quietest)
      return filled < 1 ? Math.ceil((1 - filled) / perSecond) : undefined
    },
  }
}

/** Who a connection belongs to; of IPv6 the network, which one caller has all addresses of. */
export function callerOf(address: string | undefined): string {
  if (address === undefined) return 'socket'
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}
