import { noRoom, OAuthError } from '../protocol/oauth-error.ts'
import { hashOf, randomToken } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import type { UpstreamTokens } from '../upstream/upstream.ts'
import type { Granted } from './grant.ts'
import type { Grants } from './grants.ts'

/** What an authorization code stands for. */
export interface CodeContent {
  readonly granted: Granted
  readonly redirectUri: string
  readonly challenge: string
  /** For the ID token. */
  readonly nonce?: string | undefined
  /** Tokens of upstream providers by `Upstream.id`, to be kept for the grant. */
  readonly upstreamTokens: Readonly<Record<string, UpstreamTokens>>
}

type StoredCode = CodeContent & {
  readonly state: 'new' | 'used' | 'replayed'
}

/** Authorization codes. Each is good for one use (RFC 6749, section 4.1.2). */
export interface Codes {
  issue(content: CodeContent): Promise<string>
  /**
   * Uses a code. `check` throws for a request that may not use it, and the code stays. Whoever comes second gets
   * `invalid_grant`, and the grant is revoked, since one of the two has stolen the code (RFC 9700, section 4.5).
   * `make` makes what the code is for.
   */
  redeem<T>(
    code: string,
    steps: { check(content: CodeContent): void; make(content: CodeContent): Promise<T> },
  ): Promise<T>
}

const spent = () =>
  new OAuthError('invalid_grant', 'The code is not valid: it was used, has expired or was never issued.')

export function createCodes(store: Store, grants: Grants, lifetimeMs: number): Codes {
  const keyOf = (code: string) => hashOf('code', code)

  async function find(key: string): Promise<{ text: string; stored: StoredCode } | undefined> {
    const text = await store.get('code', key)
    return text === undefined ? undefined : { text, stored: JSON.parse(text) as StoredCode }
  }

  const move = (key: string, from: { text: string; stored: StoredCode }, state: StoredCode['state']) =>
    store.replace('code', key, from.text, JSON.stringify({ ...from.stored, state }), lifetimeMs)

  /** Notes the second use first: the first one may still be about to make the grant. */
  async function refuseReplay(key: string, { granted }: CodeContent): Promise<never> {
    const found = await find(key)
    if (found?.stored.state === 'used') await move(key, found, 'replayed')
    await grants.revoke(granted.id, granted.upstreams)
    throw spent()
  }

  return {
    async issue(content) {
      const code = randomToken()
      const stored: StoredCode = { ...content, state: 'new' }
      if (await store.add('code', keyOf(code), JSON.stringify(stored), lifetimeMs)) return code
      throw noRoom('logins')
    },
    async redeem(code, { check, make }) {
      const key = keyOf(code)
      const found = await find(key)
      if (!found) throw spent()
      check(found.stored)
      if (found.stored.state !== 'new' || !(await move(key, found, 'used'))) {
        return refuseReplay(key, found.stored)
      }
      const made = await make(found.stored)
      const after = await find(key)
      if (after?.stored.state === 'replayed') return refuseReplay(key, found.stored)
      return made
    },
  }
}
