import type { App } from '../app.ts'

/** One secret of a list; values are never listed. */
export interface SecretEntry {
  readonly key: string
  readonly description?: string
}

/**
 * A place that keeps named values. A missing method is a missing capability: what needs it fails with
 * `secrets_unsupported` (405 over HTTP).
 *
 * Names are opaque: scopes and reserved names are the service's business.
 */
export interface SecretsProvider {
  /** The value; undefined when there is none of that name. */
  find(name: string): Promise<string | undefined>
  set?(name: string, value: string): Promise<void>
  /** False when there was none of that name. */
  delete?(name: string): Promise<boolean>
  list?(): Promise<SecretEntry[]>
  /**
   * Proves that it works here, before it is chosen: what is missing is a Failure that says what to do.
   * May make what it needs, e.g. an empty file.
   */
  prepare(): Promise<void>
  /** Whether a person has to type a password to open it; `new` if nothing is stored yet. Absent: never. */
  needsPerson?(): Promise<'new' | 'existing' | undefined>
  /** Asks for the password and keeps it until the user logs out. False where no password has to be typed. */
  unlock?(): Promise<boolean>
  /** Deletes the password that `unlock` keeps. False when there was none. */
  lock?(): Promise<boolean>
  /** Deletes what opens it on this machine, e.g. a key in the keyring. False when there was nothing. */
  forgetKey?(): Promise<boolean>
}

/** What a provider may ask its host for. */
export interface SecretsContext {
  /** Asks the person at the terminal without echo; absent where there is none. */
  readonly ask?: (question: string) => Promise<string>
  /** File with a password that the user named once and for all. */
  readonly passwordFile?: string
  /** What a new key is made from, if the user says so. */
  readonly keyFrom?: 'keyring' | 'password'
}

/** A kind of provider that a user may choose. */
export interface SecretsProviderOffer {
  /** What `keelson secret provider` calls it. */
  readonly type: string
  /** One line for the person who chooses. */
  readonly description: string
  /** Whether `KEELSON_SECRET_<NAME>` stands in for names it does not have. */
  readonly envFallback: boolean
  make(app: App, context: SecretsContext): SecretsProvider | Promise<SecretsProvider>
}
