import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose'
import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import type { KeptKeys } from './kept-keys.ts'

/** How long keys are used before they are asked for again. */
const FRESH_MS = 600_000
/** How long they are still used when they cannot be: an identity provider may be away for a while. */
export const STALE_MS = 3_600_000
/** A key that is not known makes us ask again, but not more often than this: anybody can invent one. */
const COOLDOWN_MS = 10_000
/** How long a request waits for newer keys while there are older ones that may still be used. */
const PATIENCE_MS = 1000

type FindKey = ReturnType<typeof createLocalJWKSet>

/**
 * The keys of an issuer (RFC 7517): fetched when first needed, kept, and fetched anew when they are old
 * or a token names one that is not among them, which is how keys are rotated. Keys of an earlier process are used
 * only while the issuer is away.
 *
 * It is our own code because jose's `createRemoteJWKSet` fetches again for each token while the issuer is down, and then refuses all callers.
 */
export function createKeySet(options: {
  fetch: () => Promise<Readonly<Record<string, unknown>>>
  kept?: KeptKeys | undefined
  now: () => number
}): JWTVerifyGetKey {
  const { fetch, kept, now } = options
  let keys: { readonly find: FindKey; readonly at: number } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let lastProblem: unknown
  let pending: Promise<void> | undefined

  /** One request at a time, and none within the cooldown after the last one, however that ended. */
  function refresh(): Promise<void> {
    if (pending) return pending
    if (now() - triedAt < COOLDOWN_MS) return lastProblem ? Promise.reject(lastProblem) : Promise.resolve()
    triedAt = now()
    pending = fetch()
      .then(document => {
        keys = { find: read(document), at: now() }
        lastProblem = undefined
        void kept?.write(document, keys.at)
      })
      .catch(error => {
        lastProblem = error
        throw error
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }

  /** Fails unless there are keys that may still be used. */
  async function useOlder(problem: unknown): Promise<void> {
    if (!isFailure(problem, 'auth_unavailable')) throw problem
    const isUsable = (at: number) => at <= now() && now() - at <= STALE_MS
    if (keys && isUsable(keys.at)) return
    const found = await kept?.read()
    if (!found || !isUsable(found.at)) throw problem
    keys ??= { find: read(found.document), at: found.at }
  }

  async function current(): Promise<FindKey> {
    const age = keys ? now() - keys.at : Number.POSITIVE_INFINITY
    if (age > FRESH_MS) {
      const refreshed = refresh().catch(useOlder)
      await (age <= STALE_MS ? Promise.race([refreshed, afterPatience()]) : refreshed)
    }
    if (!keys) throw failures.auth_unavailable({ problem: 'there are no keys yet' })
    return keys.find
  }

  return async (header: JWSHeaderParameters, token) => {
    const find = await current()
    try {
      return await find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await refresh()
      if (keys?.find === find) throw error
      return (await current())(header, token)
    }
  }
}

const afterPatience = (): Promise<void> => new Promise(resolve => setTimeout(resolve, PATIENCE_MS).unref())

function read(document: Readonly<Record<string, unknown>>): FindKey {
  try {
    return createLocalJWKSet(document as unknown as JSONWebKeySet)
  } catch (error) {
    throw failures.auth_unavailable(
      { problem: 'the document with the keys of the issuer holds none' },
      { cause: error },
    )
  }
}
