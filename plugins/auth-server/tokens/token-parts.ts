import type { RegisteredClients } from '../clients/registered-clients.ts'
import type { AccessTokens } from '../grants/access-token.ts'
import type { Codes } from '../grants/codes.ts'
import type { Grants } from '../grants/grants.ts'
import type { IdTokens } from '../grants/id-token.ts'
import type { HmacSecrets } from '../keys/hmac-secrets.ts'

/** What the kinds of grants are made of. */
export interface TokenParts {
  readonly clients: Pick<RegisteredClients, 'keep'>
  readonly codes: Codes
  readonly grants: Grants
  readonly accessTokens: AccessTokens
  readonly idTokens: IdTokens
  readonly secrets: HmacSecrets
}
