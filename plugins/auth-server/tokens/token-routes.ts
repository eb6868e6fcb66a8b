import type { FindClient } from '../clients/client.ts'
import { ASSERTION_GRANT, CODE_GRANT, EXCHANGE_GRANT, REFRESH_GRANT } from '../clients/client.ts'
import type { Route } from '../protocol/route.ts'
import type { ServerSettings } from '../settings.ts'
import type { Store } from '../storage/store.ts'
import { createAssertionGrant, type TrustedIssuer } from './assertion-grant.ts'
import { createCodeGrant } from './code-grant.ts'
import { createExchangeGrant } from './exchange-grant.ts'
import { createIntrospection } from './introspection.ts'
import type { ReadOwnToken } from './own-token.ts'
import { createRefreshGrant } from './refresh-grant.ts'
import { createRevocation } from './revocation.ts'
import { createTokenEndpoint } from './token-endpoint.ts'
import type { TokenParts } from './token-parts.ts'
import type { GrantHandler } from './token-request.ts'

interface Parts extends TokenParts {
  readonly settings: ServerSettings
  readonly store: Store
  readonly find: FindClient
  readonly readOwnToken: ReadOwnToken
  readonly issuers: readonly TrustedIssuer[]
  readonly now: () => number
}

/** The paths where programs get tokens, ask about them and give them back. */
export function createTokenRoutes(parts: Parts): {
  routes: [string, Route][]
  grantTypes: readonly string[]
} {
  const { settings, find, issuers } = parts
  const handlers = new Map<string, GrantHandler>([
    [CODE_GRANT, createCodeGrant(parts)],
    [REFRESH_GRANT, createRefreshGrant(parts)],
  ])
  if (settings.allowsConfidential) handlers.set(EXCHANGE_GRANT, createExchangeGrant(parts))
  if (settings.allowsConfidential && issuers.length) {
    const { issuer, audiences } = settings
    handlers.set(ASSERTION_GRANT, createAssertionGrant({ ...parts, issuer, audiences }))
  }
  return {
    grantTypes: [...handlers.keys()],
    routes: [
      ['/oauth/token', { POST: createTokenEndpoint(find, handlers) }],
      ['/oauth/revoke', { POST: createRevocation(parts) }],
      ['/oauth/introspect', { POST: createIntrospection(parts) }],
    ],
  }
}
