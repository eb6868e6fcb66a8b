import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import { isRunning } from '../../../src/lib/process-identity.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import type { LoginToken } from './held-tokens.ts'
import type { LoginParts, LoginPlace } from './login-parts.ts'
import { isRenewable } from './login-record.ts'

const LOGGED_OUT = 'Nobody is logged in to the remote server.'
const LOST = 'The login to the remote server lasted until the process of keelson that kept it ended.'
const EXPIRED = 'The login to the remote server has expired; log in again.'

export type TokenOutcome =
  | { readonly token: LoginToken }
  | { readonly problem: AccessProblem; readonly retryAfterMs?: number | undefined }

/** Gets a token that is good for a while; `rejected` is one that the server did not accept. */
export type GetToken = (
  place: LoginPlace,
  options?: { rejected?: string | undefined },
) => Promise<TokenOutcome>

/** Gives the token in memory, or renews it: once for all who ask, and with each refresh token once. */
export function createGetToken({ engine, store, held, notes, locks, now }: LoginParts): GetToken {
  const renewing = createSingleFlight<TokenOutcome>()

  const isGood = ({ accessToken, renewAt }: LoginToken, rejected: string | undefined): boolean =>
    accessToken !== rejected && (renewAt === undefined || now() < renewAt)

  async function end(key: string, reason: string): Promise<TokenOutcome> {
    await store.remove(key)
    await held.drop(key)
    return unauthenticated(reason)
  }

  /** Under the lock, so that the newest refresh token is read from the store. */
  async function renew(place: LoginPlace, rejected: string | undefined): Promise<TokenOutcome> {
    const { key, origin, settings, reach } = place
    const found = await store.find(key)
    if (found?.record.origin !== origin) {
      const keptBy = (await notes.read(key))?.keptBy
      return unauthenticated(keptBy !== undefined && !isRunning(keptBy) ? LOST : LOGGED_OUT)
    }
    const { record, keptIn } = found
    if (found.tokens) {
      const token = await held.hold(key, record, found.tokens)
      if (isGood(token, rejected)) return { token }
    }
    if (!isRenewable(record)) return end(key, EXPIRED)
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
    if (result.kind === 'permanent')
      return end(key, `The login to the remote server is over: ${result.problem}.`)
    const { tokens } = result
    const newest = tokens.refreshToken ?? refreshToken
    if (keptIn !== 'secrets' || newest !== refreshToken || client !== record.client) {
      await store.update(key, { record: { ...record, client, refreshToken: newest }, tokens }, keptIn)
    }
    return { token: await held.hold(key, record, tokens) }
  }

  return async (place, { rejected } = {}) => {
    const { key } = place
    const known = held.get(key)
    if (known && isGood(known, rejected) && (await held.isCurrent(key, known))) return { token: known }
    return renewing.run(key, () => locks.change(key, () => renew(place, rejected)))
  }
}

const unauthenticated = (reason: string): TokenOutcome => ({ problem: { status: 'unauthenticated', reason } })
