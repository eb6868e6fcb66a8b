import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { TokenRenewal } from './token-renewal.ts'

/** How often it is looked whether the login is still there, in milliseconds. */
const WATCH_MS = 5000

/** Sees to it that the status tells of a logout also while nobody sends requests. Returns how to end that. */
export function watchLogin(
  renewal: Pick<TokenRenewal, 'isCurrent' | 'renew'>,
  { log, everyMs = WATCH_MS }: { log: Log; everyMs?: number },
): () => void {
  async function look(): Promise<void> {
    if (!(await renewal.isCurrent())) await renewal.renew()
  }
  const timer = setInterval(() => {
    look().catch(error => log.error('The login could not be looked at.', { error: messageOf(error) }))
  }, everyMs).unref()
  return () => clearInterval(timer)
}
