import { setTimeout as delay } from 'node:timers/promises'
import { isFailure } from '../../../src/errors.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { upstreamKey } from '../grants/grants.ts'
import { hashOf } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import { failures } from '../upstream/failures.ts'
import type { Upstream, UpstreamTokens } from '../upstream/upstream.ts'

/** Tokens that end sooner are renewed first, in milliseconds. */
const EARLY_MS = 30_000

/** One replica at a time renews a login, since providers end a login whose refresh token is used twice. */
const LEASE_MS = 30_000
const LOOK_MS = 100

/** The tokens of upstream providers that are kept for grants. */
export interface StoredTokens {
  /**
   * Returns a token that is valid now, renewed where necessary; undefined: there is none, or the provider does not
   * renew it. Fails with `auth_store_unavailable` and `upstream_unavailable`.
   */
  accessToken(grantId: string, provider: string): Promise<string | undefined>
}

/** `lifetimeMs`: how long renewed tokens are kept. */
export function createStoredTokens({
  store,
  upstreams,
  lifetimeMs,
  now = Date.now,
}: {
  readonly store: Store
  readonly upstreams: readonly Upstream[]
  readonly lifetimeMs: number
  readonly now?: () => number
}): StoredTokens {
  const flight = createSingleFlight<string | undefined>()
  const isValid = ({ expiresAt = Number.POSITIVE_INFINITY, refreshToken }: UpstreamTokens) =>
    expiresAt > now() + (refreshToken === undefined ? 0 : EARLY_MS)

  async function read(key: string) {
    const value = await store.get('upstream', key)
    return value === undefined ? undefined : { value, tokens: JSON.parse(value) as UpstreamTokens }
  }

  async function renew(key: string, upstream: Upstream): Promise<string | undefined> {
    const lease = hashOf('renewal', key)
    for (const end = Date.now() + LEASE_MS; Date.now() < end; await delay(LOOK_MS)) {
      const found = await read(key)
      if (!found || isValid(found.tokens)) return found?.tokens.accessToken
      if (found.tokens.refreshToken === undefined) return undefined
      if (!(await store.add('used', lease, 'renewal', LEASE_MS))) continue
      try {
        return await renewNow(key, upstream)
      } finally {
        await store.delete('used', lease)
      }
    }
    throw failures.upstream_unavailable({ name: upstream.name, problem: 'another replica renews the tokens' })
  }

  /** What the provider returns is in the store before anybody gets it, since the refresh token before is used up. */
  async function renewNow(key: string, upstream: Upstream): Promise<string | undefined> {
    const found = await read(key)
    if (!found || isValid(found.tokens)) return found?.tokens.accessToken
    // Whoever asked may go away meanwhile: what the provider returns is kept all the same.
    const { signal } = new AbortController()
    const next = await upstream.refresh(found.tokens, { signal }).catch(error => {
      if (!isFailure(error, 'upstream_login_failed')) throw error
      return { ...found.tokens, refreshToken: undefined } // so that the provider is not asked again
    })
    const isKept = await store.replace('upstream', key, found.value, JSON.stringify(next), lifetimeMs)
    return isKept && next.accessToken !== found.tokens.accessToken ? next.accessToken : undefined
  }

  return {
    async accessToken(grantId, provider) {
      const upstream = upstreams.find(({ name }) => name === provider)
      if (!upstream) return undefined
      const key = upstreamKey(grantId, upstream.id)
      const found = await read(key)
      if (!found || isValid(found.tokens)) return found?.tokens.accessToken
      return flight.run(key, () => renew(key, upstream))
    },
  }
}
