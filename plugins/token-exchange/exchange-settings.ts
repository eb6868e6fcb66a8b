import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type {} from '../auth-out/index.ts'
import { clientSecretOf, namedSecret } from './client-secret.ts'
import type { TokenEndpoint } from './request-token.ts'
import type { TokenExchangeConfig } from './section.ts'
import { toTokenType } from './token-types.ts'

/** All that an exchange needs to know, with its secrets. */
export interface ExchangeSettings {
  readonly endpoint: TokenEndpoint
  readonly subjectType: string
  readonly audience: string | undefined
  readonly resource: string | undefined
  readonly scope: string | undefined
  readonly actor: ActorSettings | undefined
  /** The authorization server of the target, to which the ID-JAG is shown. It is looked for when it is needed. */
  readonly assertionEndpoint: (() => Promise<TokenEndpoint>) | undefined
}

/** Who acts for the subject. */
export type ActorSettings =
  | { readonly kind: 'file'; readonly path: string; readonly type: string }
  | { readonly kind: 'client' }

/** Reads what the run config says. Fails where a secret, a file or a certificate is missing. */
export async function readExchangeSettings(
  app: App,
  config: RunConfig,
  exchange: TokenExchangeConfig,
): Promise<ExchangeSettings> {
  const ca = await readCaBundle(config.svc_ca_bundle)
  const { identity_assertion: assertion, actor_token_file: path, scopes } = exchange
  return {
    endpoint: {
      url: exchange.token_url ?? '',
      mayBePrivate: true, // the user has named it
      clientId: exchange.client_id || undefined,
      clientSecret: await clientSecretOf(app, exchange, config.name),
      ca,
    },
    subjectType: toTokenType(exchange.subject_token_type, assertion ? 'id_token' : 'access_token'),
    audience: exchange.audience || undefined,
    resource: exchange.resource || (assertion ? config.remote_url : undefined),
    scope: scopes?.join(' ') || undefined,
    actor: path
      ? { kind: 'file', path, type: toTokenType(exchange.actor_token_type, 'access_token') }
      : exchange.actor_is_client
        ? { kind: 'client' }
        : undefined,
    assertionEndpoint: assertion ? await assertionEndpointOf(app, exchange, assertion, ca) : undefined,
  }
}

type Assertion = NonNullable<TokenExchangeConfig['identity_assertion']>

async function assertionEndpointOf(
  app: App,
  { audience: issuer = '' }: TokenExchangeConfig,
  assertion: Assertion,
  ca: string | undefined,
): Promise<() => Promise<TokenEndpoint>> {
  const { client_id, client_secret_name, token_url } = assertion
  const client = {
    clientId: client_id || undefined,
    clientSecret: client_secret_name ? await namedSecret(app, client_secret_name) : undefined,
    ca,
  }
  if (token_url) return async () => ({ ...client, url: token_url, mayBePrivate: true })
  const engine = await app.service('oauthEngine')
  let found: TokenEndpoint | undefined
  return async () => {
    if (found) return found
    const { server, mayBePrivate } = await engine.discoverIssuer({ issuer, scopes: [] }, { ca })
    found = { ...client, url: server.token_endpoint ?? '', mayBePrivate }
    return found
  }
}
