import type { RegistryAuth } from '../settings/index.ts'

/** A registry, and where its users log in. */
export interface LoginSubject {
  readonly url: string
  readonly auth: RegistryAuth
}

/** The person who logs in, and who else has a say. */
export interface LoginPerson {
  /** Whether to open a browser. */
  readonly browser: boolean
  /** Shows the address; `opened` says whether a browser was opened as well. */
  readonly show: (url: string, opened: boolean) => void
  /** Throws when the token is not good for what it is for; nothing is stored then. */
  readonly check: (token: string) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/** Logs in to registries and returns their bearer tokens. The plugin for OAuth provides it. */
export interface RegistryTokens {
  /**
   * A token that is good for a while; undefined: nobody has logged in. `rejected` is one that the
   * registry did not take. Fails with `login_over` when the login cannot be renewed, with
   * `issuer_unreachable` when its provider cannot be asked now.
   */
  find(subject: LoginSubject, rejected?: string): Promise<string | undefined>
  /** Whether there is a login, without asking the user or the network. */
  has(subject: LoginSubject): Promise<boolean>
  /** Returns what the settings must hold from now on. */
  login(
    wish: { url: string; allowPrivate: boolean; auth: Partial<RegistryAuth['oauth']> },
    person: LoginPerson,
  ): Promise<RegistryAuth['oauth']>
  /** Forgets every login, and revokes the tokens of this one at its provider. */
  logout(subject: LoginSubject): Promise<void>
  /** Forgets every login. */
  forget(): Promise<void>
}
