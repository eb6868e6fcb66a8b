import { noRoom, OAuthError } from '../protocol/oauth-error.ts'
import { hashOf, randomToken } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import type { UpstreamTokens } from '../upstream/upstream.ts'
import type { Grant, Granted } from './grant.ts'

/** The grants that exist. One that is not found has expired, was revoked, or is not good any more. */
export interface Grants {
  /** Fails with `invalid_grant` where the person may not log in any more. */
  create(granted: Granted): Promise<Grant>
  find(id: string): Promise<Grant | undefined>
  /** Makes the next refresh token the valid one. Of two callers, one gets a grant; undefined: the other was faster. */
  rotate(grant: Grant): Promise<Grant | undefined>
  /** Ends a grant, with its upstream tokens. */
  revoke(id: string, upstreams: readonly string[]): Promise<void>
  /** Keeps tokens of an upstream provider for a grant. */
  keepUpstream(id: string, upstream: string, tokens: UpstreamTokens): Promise<void>
}

/** The key of the tokens of an upstream provider (`Upstream.id`), of the kind `upstream`. */
export const upstreamKey = (grantId: string, upstream: string): string =>
  hashOf('upstream', grantId, upstream)

const grantKey = (id: string): string => hashOf('grant', id)

/**
 * `lifetimeMs`: how long a grant exists after its last refresh. `isGood`: whether the person might log in now; the
 * configuration may have changed since they did.
 */
export function createGrants(
  store: Store,
  { lifetimeMs, isGood }: { lifetimeMs: number; isGood(grant: Granted): boolean },
): Grants {
  async function keepLonger(grant: Grant): Promise<void> {
    for (const upstream of grant.upstreams) {
      const key = upstreamKey(grant.id, upstream)
      const value = await store.get('upstream', key)
      // Somebody else who replaces it at this moment keeps it as long.
      if (value !== undefined) await store.replace('upstream', key, value, value, lifetimeMs)
    }
  }

  return {
    async create(granted) {
      if (!isGood(granted)) throw new OAuthError('invalid_grant', 'This account may not use this server.')
      const grant: Grant = { ...granted, generation: 0, secret: randomToken() }
      if (await store.add('grant', grantKey(grant.id), JSON.stringify(grant), lifetimeMs)) return grant
      throw noRoom('logins')
    },
    async find(id) {
      const value = await store.get('grant', grantKey(id))
      const grant = value === undefined ? undefined : (JSON.parse(value) as Grant)
      return grant && isGood(grant) ? grant : undefined
    },
    async rotate(grant) {
      const next: Grant = { ...grant, generation: grant.generation + 1 }
      const [before, after] = [JSON.stringify(grant), JSON.stringify(next)]
      if (!(await store.replace('grant', grantKey(grant.id), before, after, lifetimeMs))) return undefined
      await keepLonger(next)
      return next
    },
    async revoke(id, upstreams) {
      await store.delete('grant', grantKey(id))
      for (const upstream of upstreams) await store.delete('upstream', upstreamKey(id, upstream))
    },
    async keepUpstream(id, upstream, tokens) {
      if (!(await store.add('upstream', upstreamKey(id, upstream), JSON.stringify(tokens), lifetimeMs)))
        throw new OAuthError('server_error', 'The login cannot be kept.', { status: 500 })
    },
  }
}
