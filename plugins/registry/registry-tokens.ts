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
  /** Shows the address; `opened` says whether a browser was told, too. */
  readonly show: (url: string, opened: boolean) => void
  /** Throws when the token is not good for what it is for; nothing is stored then. */
  readonly check: (token: string) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/** Logs in to registries and gives their bearer tokens; whoever knows OAuth offers it. */
export interface RegistryTokens {
  /**
   * A token that is good for a while; undefined: nobody has logged in. `rejected` is one that the
   * registry did not take. Fails with `login_over` when the login cannot be renewed, with
   * `issuer_unreachable` when its provider cannot be asked now.
   */
  find(subject: LoginSubject, rejected?: string): Promise<string | undefined>
  /** Whether somebody has logged in, without asking anybody. */
  has(subject: LoginSubject): Promise<boolean>
  /** Answers what the settings must hold from now on. */
  login(
    wish: { url: string; allowPrivate: boolean; auth: Partial<RegistryAuth['oauth']> },
    person: LoginPerson,
  ): Promise<RegistryAuth['oauth']>
  /** Forgets every login, and tells this one's provider. */
  logout(subject: LoginSubject): Promise<void>
  /** Forgets every login. */
  forget(): Promise<void>
}
