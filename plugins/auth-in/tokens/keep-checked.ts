import { hash } from 'node:crypto'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import { createExpiringMap } from '../../../src/lib/expiring-map.ts'
import { LEEWAY_SECONDS } from './leeway.ts'

/** How long a JWT that was found good is not checked again, in milliseconds: keys are looked at every ten minutes. */
const KEPT_MS = 60_000
const MOST_KEPT = 4096

/**
 * Checks a JWT once a minute instead of at every call, and never counts it beyond its end: a signature costs more than
 * all that a proxy does otherwise. Tokens are kept as digests; those that are refused are checked each time.
 */
export function keepChecked(
  check: (token: string) => Promise<Caller>,
  { now }: { now: () => number },
): (token: string) => Promise<Caller> {
  const kept = createExpiringMap<Caller>({ most: MOST_KEPT, now })
  return async token => {
    const key = hash('sha256', token, 'base64')
    const known = kept.get(key)
    if (known) return known
    const checkedAt = now()
    const caller = await check(token)
    const end = (Number(caller.claims.exp) + LEEWAY_SECONDS) * 1000
    kept.set(key, caller, Math.min(checkedAt + KEPT_MS, end))
    return caller
  }
}
