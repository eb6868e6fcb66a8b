import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import type { TokenSet } from '../oauth/types.ts'
import type { LoginParts, LoginPlace } from './login-parts.ts'

/** Tokens are renewed this long before their end, in milliseconds. */
export const EARLY_MS = 30_000

const LOGGED_OUT = 'Nobody is logged in to the remote server.'

export type TokenOutcome =
  | { readonly token: TokenSet }
  | { readonly problem: AccessProblem; readonly retryAfterMs?: number | undefined }

/** Gets a token that is good for a while; `rejected` is one that the server did not accept. */
export type GetToken = (
  place: LoginPlace,
  options?: { rejected?: string | undefined },
) => Promise<TokenOutcome>

/** Gives the token in memory, or renews it: once for all who ask, and with each refresh token once. */
export function createGetToken({ engine, store, held, locks, now }: LoginParts): GetToken {
  const renewing = createSingleFlight<TokenOutcome>()

  const isGood = ({ accessToken, expiresAt }: TokenSet, rejected: string | undefined): boolean =>
    accessToken !== rejected && (expiresAt === undefined || expiresAt - now() > EARLY_MS)

  /** Under the lock, so that the newest refresh token is read from the store. */
  async function renew({ key, origin, settings, reach }: LoginPlace): Promise<TokenOutcome> {
    const record = await store.find(key)
    if (!record || record.origin !== origin) return unauthenticated(LOGGED_OUT)
    const { discovery, refreshToken, scopes } = record
    const client = await engine.renewClient({ client: record.client, discovery }, reach)
    const result = await engine.refresh(
      { discovery, client, settings, tokens: { refreshToken, scopes } },
      reach,
    )
    if (result.kind === 'transient') {
      const reason = `The login cannot be renewed now: ${result.problem}.`
      return { problem: { status: 'auth_retrying', reason }, retryAfterMs: result.retryAfterMs }
    }
    if (result.kind === 'permanent') {
      await store.remove(key)
      await held.drop(key)
      return unauthenticated(`The login to the remote server is over: ${result.problem}.`)
    }
    const { tokens } = result
    if ((tokens.refreshToken ?? refreshToken) !== refreshToken || client !== record.client) {
      await store.save(key, { ...record, client, refreshToken: tokens.refreshToken ?? refreshToken })
    }
    await held.hold(key, record.loggedInAt, tokens)
    return { token: tokens }
  }

  return async (place, { rejected } = {}) => {
    const known = held.get(place.key)
    if (known && isGood(known, rejected) && (await held.isCurrent(place.key, known))) return { token: known }
    return renewing.run(place.key, () => locks.change(place.key, () => renew(place)))
  }
}

const unauthenticated = (reason: string): TokenOutcome => ({ problem: { status: 'unauthenticated', reason } })
