import { createHash } from 'node:crypto'
import type { BearerChallenge, LoginSettings, OAuthEngine, Reach } from '../oauth/types.ts'
import { createClientBindings } from './client-bindings.ts'
import { endLogin, type Logout } from './end-login.ts'
import { createHeldTokens, type HeldTokens } from './held-tokens.ts'
import { createLogIn, type LogIn } from './log-in.ts'
import { createLoginLocks } from './login-locks.ts'
import type { LoginNotes } from './login-notes.ts'
import type { LoginParts, LoginPlace } from './login-parts.ts'
import { type LoginStore, loginKey } from './login-store.ts'
import { createGetToken, type GetToken } from './login-tokens.ts'
import { createMachineTokens } from './machine-tokens.ts'
import { noteMissingScopes } from './missing-scopes.ts'

/** Logs in to remote servers and keeps the tokens: in memory, one login for all workloads of a server. */
export interface LoginKeeper {
  /** Finds where to log in. Fails with `client_of_other_issuer`, or as `OAuthEngine.discover`. */
  place(
    asked: {
      readonly settings: LoginSettings
      readonly challenge?: BearerChallenge | undefined
      readonly isTyped?: boolean
    },
    reach: Reach,
  ): Promise<LoginPlace>
  /** As `ClientBindings.bind`. */
  bindClient(place: LoginPlace): Promise<void>
  readonly token: GetToken
  readonly login: LogIn
  readonly isCurrent: HeldTokens['isCurrent']
  /** As `noteMissingScopes`. */
  noteMissing(key: string, scopes: readonly string[]): Promise<void>
  /** What `noteMissing` has kept since the login. */
  missingScopes(key: string): Promise<readonly string[]>
  /** As `endLogin`. */
  logout(key: string, reach?: Partial<Reach>): Promise<Logout | undefined>
  list(): ReturnType<LoginStore['list']>
  /** Another one after each login and for each token; undefined where nobody has logged in. */
  mark(key: string): Promise<string | undefined>
  /** When the newest access token of a login expires, in ISO 8601; undefined where that is not known. */
  tokenExpiry(key: string): Promise<string | undefined>
}

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
  const clients = createClientBindings(folder)
  const parts: LoginParts = { engine, store, notes, held, locks: createLoginLocks(folder), clients, now }
  const token = createGetToken(parts)
  const machine = createMachineTokens(engine, now)
  return {
    async place({ settings, challenge, isTyped }, reach) {
      const discovery = await engine.discover({ settings, challenge }, reach)
      const { origin } = new URL(reach.target)
      const key = loginKey(origin, discovery, settings.clientId)
      const place = { origin, discovery, settings, reach, isTyped }
      await clients.assertHolds(place)
      return { key: settings.isMachine ? `${key}-${credentialsHash(place)}` : key, ...place }
    },
    bindClient: place => clients.bind(place),
    async token(place, asked) {
      if (!place.settings.isMachine) return token(place, asked)
      const outcome = await machine.get(place, asked)
      if ('token' in outcome) await clients.bind(place)
      return outcome
    },
    login: createLogIn({ ...parts, token }),
    isCurrent: (key, tokens) => machine.has(key, tokens) || held.isCurrent(key, tokens),
    noteMissing: (key, scopes) => noteMissingScopes(parts, key, scopes),
    missingScopes: async key => (await notes.read(key))?.missingScopes ?? [],
    logout: (key, reach = {}) => endLogin(parts, key, reach),
    list: () => store.list(),
    mark: async key => {
      const note = await notes.read(key)
      return note && JSON.stringify(note)
    },
    tokenExpiry: async key => (await notes.read(key))?.tokenExpiresAt,
  }
}

/** Tells apart the logins of machines: a token of another secret, key or set of scopes may do more. */
function credentialsHash({ discovery, settings }: Pick<LoginPlace, 'discovery' | 'settings'>): string {
  const { clientSecret, privateKey, scopes } = settings
  const told = JSON.stringify([clientSecret, privateKey, scopes, discovery.scopes])
  return `machine-${createHash('sha256').update(told).digest('hex')}`
}
