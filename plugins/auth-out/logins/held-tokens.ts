import type { TokenSet } from '../oauth/types.ts'
import type { LoginNotes } from './login-notes.ts'
import { isRenewable, type LoginRecord } from './login-record.ts'

/** How long it may take until a logout in another process is noticed, in milliseconds. */
const NOTICE_MS = 1000
/** Tokens are renewed this long before their end, in milliseconds; those with a short life at this share of it. */
const EARLY_MS = 30_000
const EARLY_SHARE = 0.2

export interface LoginToken extends TokenSet {
  /** From then on another token is got, while this one is used up to its end; milliseconds since 1970. */
  readonly renewAt?: number | undefined
}

/** The access tokens of this process by login. They are used only while their login is there. */
export interface HeldTokens {
  get(key: string): LoginToken | undefined
  hold(key: string, login: LoginRecord, tokens: TokenSet): Promise<LoginToken>
  drop(key: string): Promise<void>
  /** Whether a token is still the one to use: false after a logout or another login, in whatever process. */
  isCurrent(key: string, tokens: TokenSet): boolean | Promise<boolean>
}

interface HeldToken {
  readonly tokens: LoginToken
  /** Of the login that it came from. */
  readonly loggedInAt: string
  /** When that login was last seen to be there. */
  checkedAt: number
}

/** When to get another token, in milliseconds since 1970. */
export const timeToRenew = (expiresAt: number, now: number): number =>
  expiresAt - Math.max(0, Math.min(EARLY_MS, (expiresAt - now) * EARLY_SHARE))

export function createHeldTokens(notes: LoginNotes, now: () => number): HeldTokens {
  const held = new Map<string, HeldToken>()

  async function check(key: string, found: HeldToken): Promise<boolean> {
    found.checkedAt = now()
    const isSame = (await notes.read(key))?.loggedInAt === found.loggedInAt
    if (!isSame && held.get(key) === found) held.delete(key)
    return isSame
  }

  function renewalTime(login: LoginRecord, { expiresAt }: TokenSet): number | undefined {
    if (expiresAt === undefined || !isRenewable(login)) return expiresAt
    return timeToRenew(expiresAt, now())
  }

  return {
    get: key => held.get(key)?.tokens,
    async hold(key, login, tokens) {
      const { loggedInAt } = login
      const { expiresAt } = tokens
      const before = await notes.read(key)
      const { missingScopes, keptBy } = before?.loggedInAt === loggedInAt ? before : {}
      await notes.write(key, {
        loggedInAt,
        ...(missingScopes ? { missingScopes } : {}),
        ...(keptBy ? { keptBy } : {}),
        ...(expiresAt === undefined ? {} : { tokenExpiresAt: new Date(expiresAt).toISOString() }),
      })
      const token = { ...tokens, renewAt: renewalTime(login, tokens) }
      held.set(key, { tokens: token, loggedInAt, checkedAt: now() })
      return token
    },
    async drop(key) {
      held.delete(key)
      await notes.remove(key)
    },
    isCurrent(key, tokens) {
      const found = held.get(key)
      if (found?.tokens !== tokens) return false
      return now() - found.checkedAt < NOTICE_MS || check(key, found)
    },
  }
}
