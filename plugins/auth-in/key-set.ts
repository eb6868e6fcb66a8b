import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose'
import { isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** How long keys are used before they are asked for again. */
const FRESH_MS = 600_000
/** How long they are still used when they cannot be: an identity provider may be away for a while. */
const STALE_MS = 3_600_000
/** A key that is not known makes us ask again, but not more often than this: anybody can invent one. */
const COOLDOWN_MS = 10_000

type FindKey = ReturnType<typeof createLocalJWKSet>

/**
 * The keys of an issuer (RFC 7517): fetched when first needed, kept, and fetched anew when they are old
 * or a token names one that is not among them, which is how keys are rotated.
 *
 * It is our own code because jose's `createRemoteJWKSet` fetches again for each token while the issuer is down, and then refuses all callers.
 */
export function createKeySet(options: {
  fetch: () => Promise<Readonly<Record<string, unknown>>>
  now: () => number
}): JWTVerifyGetKey {
  const { fetch, now } = options
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

  async function current(): Promise<FindKey> {
    const age = keys ? now() - keys.at : Number.POSITIVE_INFINITY
    if (!keys || age > FRESH_MS) {
      await refresh().catch(error => {
        if (!isFailure(error, 'auth_unavailable') || age > STALE_MS) throw error
      })
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
