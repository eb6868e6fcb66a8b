import type { TokenSet } from '../oauth/types.ts'
import type { LoginNotes } from './login-notes.ts'

/** How long it may take until a logout in another process is noticed, in milliseconds. */
const NOTICE_MS = 1000

/** The access tokens of this process by login. They are used only while their login is there. */
export interface HeldTokens {
  get(key: string): TokenSet | undefined
  hold(key: string, loggedInAt: string, tokens: TokenSet): Promise<void>
  drop(key: string): Promise<void>
  /** Whether a token is still the one to use: false after a logout or another login, in whatever process. */
  isCurrent(key: string, tokens: TokenSet): boolean | Promise<boolean>
}

interface HeldToken {
  readonly tokens: TokenSet
  /** Of the login that it came from. */
  readonly loggedInAt: string
  /** When that login was last seen to be there. */
  checkedAt: number
}

export function createHeldTokens(notes: LoginNotes, now: () => number): HeldTokens {
  const held = new Map<string, HeldToken>()

  async function check(key: string, found: HeldToken): Promise<boolean> {
    found.checkedAt = now()
    const isSame = (await notes.read(key))?.loggedInAt === found.loggedInAt
    if (!isSame && held.get(key) === found) held.delete(key)
    return isSame
  }

  return {
    get: key => held.get(key)?.tokens,
    async hold(key, loggedInAt, tokens) {
      const { expiresAt } = tokens
      const before = await notes.read(key)
      const missingScopes = before?.loggedInAt === loggedInAt ? before.missingScopes : undefined
      await notes.write(key, {
        loggedInAt,
        ...(missingScopes ? { missingScopes } : {}),
        ...(expiresAt === undefined ? {} : { tokenExpiresAt: new Date(expiresAt).toISOString() }),
      })
      held.set(key, { tokens, loggedInAt, checkedAt: now() })
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
