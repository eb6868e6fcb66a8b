import { hash } from 'node:crypto'
import { createExpiringMap } from './expiring-map.ts'
import { createSingleFlight } from './single-flight.ts'

/** What came of asking for a credential, and until when that counts, in milliseconds since 1970. */
export type Outcome<T, P> = ({ readonly value: T } | { readonly problem: P }) & { readonly until: number }

/** Credentials that were got for callers, by what they were got for. */
export interface KeptOutcomes<T, P> {
  /** What is kept for the key; a promise where it has to be asked for. Undefined: too much is asked for already. */
  get(key: string, ask: () => Promise<Outcome<T, P>>): Outcome<T, P> | Promise<Outcome<T, P>> | undefined
  /** Asks anew the next time. */
  forget(key: string): void
}

/**
 * Keeps what is asked for: once for each key at a time, and again only when it no longer counts. Keys may hold tokens;
 * digests of them are held. Problems have a place of their own, so that tokens that are refused push out none that
 * are good.
 */
export function createKeptOutcomes<T, P>({
  most,
  mostAtOnce,
  now = Date.now,
}: {
  /** How many values are kept at most, and as many problems. */
  readonly most: number
  readonly mostAtOnce: number
  readonly now?: () => number
}): KeptOutcomes<T, P> {
  const good = createExpiringMap<Outcome<T, P>>({ most, now })
  const bad = createExpiringMap<Outcome<T, P>>({ most, now })
  const running = createSingleFlight<Outcome<T, P>>()

  async function askNow(key: string, ask: () => Promise<Outcome<T, P>>): Promise<Outcome<T, P>> {
    const outcome = await ask()
    const place = 'value' in outcome ? good : bad
    place.set(key, outcome, outcome.until)
    return outcome
  }

  return {
    get(of, ask) {
      const key = digest(of)
      const known = good.get(key) ?? bad.get(key)
      if (known) return known
      if (running.size >= mostAtOnce && !running.has(key)) return undefined
      return running.run(key, () => askNow(key, ask))
    },
    forget(of) {
      const key = digest(of)
      good.delete(key)
      bad.delete(key)
    },
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64')
