import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { TokenRenewal } from './token-renewal.ts'

/** How often it is looked whether somebody has logged in, in milliseconds. */
const WATCH_MS = 1000
/** A login that is there is looked at every so many times. */
const SELDOM = 5

/**
 * Sees to it that the status tells of a login, a logout and the end of a token that cannot be renewed also while nobody
 * sends requests. Returns how to end that.
 */
export function watchLogin(
  renewal: Pick<TokenRenewal, 'token' | 'isCurrent' | 'hasNewLogin' | 'renew'>,
  { log, everyMs = WATCH_MS }: { log: Log; everyMs?: number },
): () => void {
  let ticks = 0
  async function look(): Promise<void> {
    if (renewal.token && ticks++ % SELDOM) return
    const { refreshToken, expiresAt = Number.POSITIVE_INFINITY } = renewal.token ?? {}
    const isOver = refreshToken === undefined && expiresAt <= Date.now()
    if (isOver || !(await renewal.isCurrent()) || (await renewal.hasNewLogin())) await renewal.renew()
  }
  const timer = setInterval(() => {
    look().catch(error => log.error('The login could not be looked at.', { error: messageOf(error) }))
  }, everyMs).unref()
  return () => clearInterval(timer)
}
