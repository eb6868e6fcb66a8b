import type { Client } from '../clients/client.ts'
import type { Parameters } from '../protocol/parameters.ts'

/** RFC 6749, section 5.1. */
export interface TokenResponse {
  readonly access_token: string
  readonly token_type: 'Bearer' | 'N_A'
  readonly expires_in: number
  readonly scope: string
  readonly refresh_token?: string
  readonly id_token?: string
  readonly issued_token_type?: string
}

/** One kind of grant (`grant_type`). The client has authenticated and may use it. */
export type GrantHandler = (client: Client, parameters: Parameters) => Promise<TokenResponse>
