import type { Admission } from './admission.ts'

/** What a person granted to a client. */
export interface Grant {
  /** Access tokens name it in the claim `tsid`. */
  readonly id: string
  readonly clientId: string
  readonly subject: string
  /** Who says so: the upstream provider (`Upstream.id`), or the issuer of an assertion. */
  readonly issuer: string
  readonly admission: Admission
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly scopes: readonly string[]
  readonly audience: string
  /** Whether there are refresh tokens. */
  readonly refreshes: boolean
  /** The refresh token that is valid: each use adds one. */
  readonly generation: number
  /** A part of all its refresh tokens. */
  readonly secret: string
  /** Upstream providers (`Upstream.id`) whose tokens are kept for it. */
  readonly upstreams: readonly string[]
}

/** What is decided before a grant is made. */
export type Granted = Omit<Grant, 'generation' | 'secret'>
