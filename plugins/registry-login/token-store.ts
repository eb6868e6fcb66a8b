import * as t from 'typanion'
import { isFailure } from '../../src/errors.ts'
import { createSingleFlight } from '../../src/lib/single-flight.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import type { SecretsView } from '../secrets/index.ts'
import type { Tokens } from './tokens.ts'

/** New tokens, or why the login is over. */
export type Renewal = Tokens | { readonly over: string }

/** Tokens of logins, kept among the secrets. */
export interface TokenStore {
  find(name: string): Promise<Tokens | undefined>
  save(name: string, tokens: Tokens): Promise<void>
  /** Forgets all of them. */
  clear(): Promise<void>
  /**
   * An access token that is valid for a while, renewed before it expires. One renewal at a time among
   * all processes: a provider that replaces refresh tokens takes a second use of one for theft.
   * `rejected` is one that the other side did not accept. Undefined: there is no login.
   */
  access(
    name: string,
    options: { rejected?: string | undefined; renew: (tokens: Tokens) => Promise<Renewal> },
  ): Promise<string | { readonly over: string } | undefined>
}

const EARLY_MS = 30_000
const LOCK_SECONDS = 60

const optional = t.isOptional
const schema = t.isObject(
  {
    access_token: t.isString(),
    refresh_token: optional(t.isString()),
    expires_at: optional(t.isNumber()),
    resource: optional(t.isString()),
  },
  { extra: t.isUnknown() },
)

export function createTokenStore(options: {
  secrets: SecretsView
  lockPath: string
  clock: () => number
}): TokenStore {
  const { secrets, lockPath, clock } = options
  const renewing = createSingleFlight<string | { readonly over: string } | undefined>()

  /** What cannot be read counts as no login. */
  async function find(name: string): Promise<Tokens | undefined> {
    const text = await secrets.find(name)
    if (text === undefined) return undefined
    try {
      const value: unknown = JSON.parse(text)
      return schema(value) ? (value as Tokens) : undefined
    } catch {
      return undefined
    }
  }

  const isGood = ({ expires_at: end }: Tokens, aheadMs: number): boolean =>
    end === undefined || end - clock() > aheadMs

  async function remove(name: string): Promise<void> {
    await secrets.delete(name).catch(error => {
      if (!isFailure(error, 'secret_missing')) throw error
    })
  }

  async function renewed(name: string, seen: Tokens, renew: (tokens: Tokens) => Promise<Renewal>) {
    const now = await find(name)
    if (!now) return undefined // another process logged out meanwhile
    if (now.access_token !== seen.access_token && isGood(now, 0)) return now.access_token
    const next = await renew(now)
    if ('over' in next) {
      await remove(name)
      return next
    }
    await secrets.set(name, JSON.stringify(next))
    return next.access_token
  }

  return {
    find,
    save: (name, tokens) => secrets.set(name, JSON.stringify(tokens)),
    async clear() {
      for (const { key } of await secrets.list()) await remove(key)
    },
    async access(name, { rejected, renew }) {
      const seen = await find(name)
      if (!seen) return undefined
      if (seen.access_token !== rejected && isGood(seen, EARLY_MS)) return seen.access_token
      const known = renewing.run(name, () =>
        withFileLock(lockPath, () => renewed(name, seen, renew), { seconds: LOCK_SECONDS }),
      )
      if (seen.access_token === rejected || !isGood(seen, 0)) return known
      // The renewal was early: while the provider cannot be reached, the old token is still valid.
      return known.catch(error => {
        if (isFailure(error, 'issuer_unreachable')) return seen.access_token
        throw error
      })
    },
  }
}
