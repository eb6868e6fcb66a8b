import type { KeyObject } from 'node:crypto'
import type { JWK } from 'jose'

/** The keys that tokens are signed with. */
export interface SigningKeys {
  readonly algorithm: string
  readonly keyId: string
  readonly privateKey: KeyObject
  /** The public halves, those of earlier keys among them (RFC 7517). */
  readonly published: { readonly keys: readonly JWK[] }
  /** The algorithms of all of them. */
  readonly algorithms: readonly string[]
}
