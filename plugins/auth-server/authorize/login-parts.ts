import type { FindClient } from '../clients/client.ts'
import type { Codes } from '../grants/codes.ts'
import type { ServerSettings } from '../settings.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Consents } from './consents.ts'
import type { LoginCookies } from './login-cookies.ts'
import type { PendingLogins } from './pending-logins.ts'

/** What the steps of a login are made of. */
export interface LoginParts {
  readonly settings: ServerSettings
  readonly find: FindClient
  readonly upstreams: readonly Upstream[]
  readonly cookies: LoginCookies
  readonly pending: PendingLogins
  readonly consents: Consents
  readonly codes: Codes
}
