import type { Person } from '../oauth/types.ts'
import type { LoginParts, LoginPlace } from './login-parts.ts'
import type { LoginRecord } from './login-store.ts'
import type { GetToken } from './login-tokens.ts'

/**
 * Logs a person in, unless somebody else has meanwhile. One at a time among all processes of the user.
 * Resolves with whether the login is kept for the next start.
 */
export type LogIn = (
  place: LoginPlace,
  options: { person: Person; waitMs: number; anew?: boolean; signal?: AbortSignal | undefined },
) => Promise<{ kept: boolean }>

export function createLogIn(parts: LoginParts & { token: GetToken }): LogIn {
  const { engine, store, notes, held, locks, now, token } = parts
  return async (place, { person, waitMs, anew = false, signal }) => {
    const { key, origin, discovery, settings } = place
    const before = await store.find(key)
    return locks.logIn(key, waitMs, async () => {
      const found = await store.find(key)
      const isOther = found !== undefined && found.loggedInAt !== before?.loggedInAt
      if (found && (isOther || !anew) && 'token' in (await token(place))) return { kept: true }
      const missing = (await notes.read(key))?.missingScopes ?? []
      const grantedScopes = [...(found?.scopes ?? []), ...missing]
      const { tokens, client } = await engine.login(
        { discovery, settings, client: found?.client, grantedScopes, person, waitMs },
        { ...place.reach, signal },
      )
      const record: LoginRecord = {
        ...{ origin, discovery, client, refreshToken: tokens.refreshToken, scopes: tokens.scopes },
        loggedInAt: new Date(now()).toISOString(),
      }
      const saved = await locks.change(key, async () => {
        const isKept = await store.save(key, record)
        await held.hold(key, record.loggedInAt, tokens)
        return isKept
      })
      return { kept: saved && tokens.refreshToken !== undefined }
    })
  }
}
