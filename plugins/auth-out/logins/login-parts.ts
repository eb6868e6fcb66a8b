import type { Discovery, LoginSettings, OAuthEngine, Reach } from '../oauth/types.ts'
import type { ClientBindings } from './client-bindings.ts'
import type { HeldTokens } from './held-tokens.ts'
import type { LoginLocks } from './login-locks.ts'
import type { LoginNotes } from './login-notes.ts'
import type { LoginStore } from './login-store.ts'

/** Where to log in for a remote server. */
export interface LoginPlace {
  readonly key: string
  readonly origin: string
  readonly discovery: Discovery
  readonly settings: LoginSettings
  readonly reach: Reach
  /** Whether the person has typed the issuer in this command. */
  readonly isTyped?: boolean | undefined
}

/** What logging in, renewing and logging out work on. */
export interface LoginParts {
  readonly engine: OAuthEngine
  readonly store: LoginStore
  readonly notes: LoginNotes
  readonly held: HeldTokens
  readonly locks: LoginLocks
  readonly clients: ClientBindings
  readonly now: () => number
}
