import type { ClientIdentity, Discovery, TokenSet } from '../oauth/types.ts'

/** A login: all that is needed to get tokens again without a person. No access token. */
export interface LoginRecord {
  /** Origin of the remote server; tokens go nowhere else. */
  readonly origin: string
  readonly discovery: Discovery
  readonly client: ClientIdentity
  /** Absent where the provider gave none: the login ends with its access token. */
  readonly refreshToken?: string | undefined
  /** Granted. */
  readonly scopes: readonly string[]
  readonly loggedInAt: string
}

export const isRenewable = ({ refreshToken }: LoginRecord): boolean => refreshToken !== undefined

/** Where a login is: with a secrets provider, in the memory of the supervisor, or in that of this process. */
export type KeptIn = 'secrets' | 'supervisor' | 'process'

export type StoredLogin = readonly [key: string, record: LoginRecord, keptIn: KeptIn]

/** A login in the memory of one process, with its newest access token. */
export interface RememberedLogin {
  readonly record: LoginRecord
  readonly tokens: TokenSet
}
