import { join } from 'node:path'
import type { AccessProblem } from '../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../src/errors.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import type {
  BearerChallenge,
  Discovery,
  LoginSettings,
  OAuthEngine,
  Person,
  Reach,
  TokenSet,
} from '../oauth/types.ts'
import { createHeldTokens, type HeldTokens } from './held-tokens.ts'
import type { LoginNotes } from './login-notes.ts'
import { type LoginRecord, type LoginStore, loginKey } from './login-store.ts'

/** Where to log in for a remote server. */
export interface LoginPlace {
  readonly key: string
  readonly origin: string
  readonly discovery: Discovery
  readonly settings: LoginSettings
  readonly reach: Reach
}

export type TokenOutcome =
  | { readonly token: TokenSet }
  | { readonly problem: AccessProblem; readonly retryAfterMs?: number | undefined }

/** How a login ended at its provider. `problem`: why it was not taken back there. */
export interface Logout {
  readonly issuer: string
  readonly problem?: string | undefined
}

/** Logs in to remote servers and keeps the tokens: in memory, one login for all workloads of a server. */
export interface LoginKeeper {
  /** Finds where to log in. Fails as `OAuthEngine.discover`. */
  place(
    asked: { readonly settings: LoginSettings; readonly challenge?: BearerChallenge | undefined },
    reach: Reach,
  ): Promise<LoginPlace>
  /** A token that is good for a while; `rejected` is one that the server did not accept. */
  token(place: LoginPlace, options?: { rejected?: string | undefined }): Promise<TokenOutcome>
  /**
   * Logs a person in, unless somebody else has meanwhile. One at a time among all processes of the user.
   * Resolves with whether the login is kept for the next start.
   */
  login(
    place: LoginPlace,
    options: { person: Person; waitMs: number; anew?: boolean; signal?: AbortSignal | undefined },
  ): Promise<{ kept: boolean }>
  isCurrent: HeldTokens['isCurrent']
  /** Keeps which scopes the server wants besides the granted ones, so that the next login asks for them, too. */
  noteMissing(key: string, scopes: readonly string[]): Promise<void>
  /** What `noteMissing` has kept since the login. */
  missingScopes(key: string): Promise<readonly string[]>
  /**
   * Forgets a login, which stops its use in all processes, then takes it back at its provider (RFC 7009).
   * Undefined: there was none.
   */
  logout(key: string, reach?: Partial<Reach>): Promise<Logout | undefined>
  list(): ReturnType<LoginStore['list']>
  /** When the newest access token of a login expires, in ISO 8601; undefined where that is not known. */
  tokenExpiry(key: string): Promise<string | undefined>
}

/** Tokens are renewed this long before their end, in milliseconds. */
export const EARLY_MS = 30_000
const REFRESH_LOCK_SECONDS = 120
/** The most scopes that a server can add to the next login. */
const MOST_MISSING = 50

const LOGGED_OUT = 'Nobody is logged in to the remote server.'

export function createLoginKeeper(options: {
  engine: OAuthEngine
  store: LoginStore
  /** Folder of the locks. */
  folder: string
  notes: LoginNotes
  now?: () => number
}): LoginKeeper {
  const { engine, store, folder, notes, now = Date.now } = options
  const held = createHeldTokens(notes, now)
  const renewing = createSingleFlight<TokenOutcome>()

  const isGood = ({ accessToken, expiresAt }: TokenSet, rejected: string | undefined): boolean =>
    accessToken !== rejected && (expiresAt === undefined || expiresAt - now() > EARLY_MS)

  const inTurn = <T>(key: string, seconds: number, work: () => Promise<T>): Promise<T> =>
    withFileLock(join(folder, `${key}.lock`), work, { seconds })

  async function forget(key: string): Promise<void> {
    await store.remove(key)
    await held.drop(key)
  }

  /** Under the lock, so that each refresh token is used once: the newest is read from the store. */
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
      await forget(key)
      return unauthenticated(`The login to the remote server is over: ${result.problem}.`)
    }
    const { tokens } = result
    if ((tokens.refreshToken ?? refreshToken) !== refreshToken || client !== record.client) {
      await store.save(key, { ...record, client, refreshToken: tokens.refreshToken ?? refreshToken })
    }
    await held.hold(key, record.loggedInAt, tokens)
    return { token: tokens }
  }

  async function token(place: LoginPlace, { rejected }: { rejected?: string | undefined } = {}) {
    const known = held.get(place.key)
    if (known && isGood(known, rejected) && (await held.isCurrent(place.key, known))) return { token: known }
    return renewing.run(place.key, () => inTurn(place.key, REFRESH_LOCK_SECONDS, () => renew(place)))
  }

  return {
    token,
    isCurrent: held.isCurrent,
    noteMissing: (key, scopes) =>
      inTurn(key, REFRESH_LOCK_SECONDS, async () => {
        const found = await notes.read(key)
        const missing = [...new Set([...(found?.missingScopes ?? []), ...scopes])]
        if (!found || missing.length === found.missingScopes?.length || missing.length > MOST_MISSING) return
        await notes.write(key, { ...found, missingScopes: missing })
      }),
    missingScopes: async key => (await notes.read(key))?.missingScopes ?? [],
    async place(asked, reach) {
      const discovery = await engine.discover(asked, reach)
      const { origin } = new URL(reach.target)
      const key = loginKey(origin, discovery, asked.settings.clientId)
      return { key, origin, discovery, settings: asked.settings, reach }
    },
    async login(place, { person, waitMs, anew = false, signal }) {
      const { key, origin, discovery, settings } = place
      const before = await store.find(key)
      const seconds = Math.ceil(waitMs / 1000) + REFRESH_LOCK_SECONDS
      return withFileLock(
        join(folder, `${key}.login.lock`),
        async () => {
          const found = await store.find(key)
          const isOther = found !== undefined && found.loggedInAt !== before?.loggedInAt
          if (found && (isOther || !anew) && 'token' in (await token(place))) return { kept: true }
          const reach = { ...place.reach, signal }
          const missing = (await notes.read(key))?.missingScopes ?? []
          const grantedScopes = [...(found?.scopes ?? []), ...missing]
          const { tokens, client } = await engine.login(
            { discovery, settings, client: found?.client, grantedScopes, person, waitMs },
            reach,
          )
          const record: LoginRecord = {
            ...{ origin, discovery, client, refreshToken: tokens.refreshToken, scopes: tokens.scopes },
            loggedInAt: new Date(now()).toISOString(),
          }
          const saved = await inTurn(key, REFRESH_LOCK_SECONDS, async () => {
            const isKept = await store.save(key, record)
            await held.hold(key, record.loggedInAt, tokens)
            return isKept
          })
          return { kept: saved && tokens.refreshToken !== undefined }
        },
        { seconds },
      )
    },
    async logout(key, reach = {}) {
      const token = held.get(key)
      const record = await inTurn(key, REFRESH_LOCK_SECONDS, async () => {
        const found = await store.find(key)
        await forget(key)
        return found
      })
      if (!record) return undefined
      const { discovery, client, refreshToken, origin } = record
      const { issuer } = discovery
      try {
        const isRevoked = await engine.revoke(
          {
            discovery,
            client,
            settings: {},
            tokens: { refreshToken, ...(token ? { accessToken: token.accessToken } : {}) },
          },
          { target: origin, ...reach },
        )
        return isRevoked ? { issuer } : { issuer, problem: 'it takes no logins back' }
      } catch (error) {
        return { issuer, problem: messageOf(error) }
      }
    },
    list: () => store.list(),
    tokenExpiry: async key => (await notes.read(key))?.tokenExpiresAt,
  }
}

const unauthenticated = (reason: string): TokenOutcome => ({ problem: { status: 'unauthenticated', reason } })
