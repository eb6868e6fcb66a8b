import type { IncomingMessage } from 'node:http'

export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

export const CODE_GRANT = 'authorization_code'
export const REFRESH_GRANT = 'refresh_token'
export const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** A program that asks for tokens. It registered itself, or has a document that describes it. */
export interface Client {
  readonly id: string
  readonly name?: string | undefined
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  readonly authMethod: AuthMethod
  /** The hash of its secret; undefined for public clients. */
  readonly secretHash?: string | undefined
  /** When it registered, in milliseconds since 1970. */
  readonly registeredAt: number
  /** When it last did something, in milliseconds since 1970, to within a day. */
  readonly usedAt: number
}

/** Finds the client that a request names; undefined: there is none. Fails with `invalid_client`. */
export type FindClient = (id: string, request: IncomingMessage) => Promise<Client | undefined>
