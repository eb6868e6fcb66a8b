import type { Person } from '../oauth/types.ts'
import type { LoginParts, LoginPlace } from './login-parts.ts'
import { isRenewable, type KeptIn, type LoginRecord } from './login-record.ts'
import type { GetToken } from './login-tokens.ts'

/** A login that is there now. */
export interface LoginOutcome {
  readonly record: LoginRecord
  readonly keptIn: KeptIn
  /** False where somebody had logged in before. */
  readonly isNew: boolean
}

/** Logs a person in, unless somebody else has meanwhile. One at a time among all processes of the user. */
export type LogIn = (
  place: LoginPlace,
  options: {
    person: Person
    waitMs: number
    /** Also where there is a login. */
    anew?: boolean
    /** Whose memory keeps the login where no secrets provider does. */
    memory: Exclude<KeptIn, 'secrets'>
    signal?: AbortSignal | undefined
  },
) => Promise<LoginOutcome>

export function createLogIn(parts: LoginParts & { token: GetToken }): LogIn {
  const { engine, store, notes, held, locks, clients, now, token } = parts
  return async (place, { person, waitMs, anew = false, memory, signal }) => {
    const { key, origin, discovery, settings } = place
    const before = await store.find(key)
    return locks.logIn(key, waitMs, async () => {
      const found = await store.find(key)
      const isOther = found !== undefined && found.record.loggedInAt !== before?.record.loggedInAt
      if (found && (isOther || !anew) && 'token' in (await token(place))) return { ...found, isNew: false }
      const missing = (await notes.read(key))?.missingScopes ?? []
      const grantedScopes = [...(found?.record.scopes ?? []), ...missing]
      const { tokens, client } = await engine.login(
        { discovery, settings, client: found?.record.client, grantedScopes, person, waitMs },
        { ...place.reach, signal },
      )
      const record: LoginRecord = {
        ...{ origin, discovery, client, refreshToken: tokens.refreshToken, scopes: tokens.scopes },
        loggedInAt: new Date(now()).toISOString(),
      }
      const keptIn = await locks.change(key, async () => {
        signal?.throwIfAborted() // who has given up must not be logged in
        const kept = await store.add(key, { record, tokens }, memory)
        await held.hold(key, record, tokens)
        await clients.bind(place)
        return kept
      })
      return { record, keptIn, isNew: true }
    })
  }
}

/** How long a login lasts that the secrets provider does not keep, in a sentence; undefined for one that it keeps. */
export function describeLasting({ record, keptIn }: LoginOutcome): string | undefined {
  if (keptIn === 'secrets') return undefined
  const until = keptIn === 'supervisor' ? "keelson's background process ends" : 'this process ends'
  if (isRenewable(record))
    return `The login lasts until ${until}. To make it lasting: keelson secret setup, then log in again.`
  return `The login lasts until its token expires or ${until}, because the provider gave no refresh token. To make it lasting, ask for one: --remote-auth-scopes openid,offline_access.`
}
