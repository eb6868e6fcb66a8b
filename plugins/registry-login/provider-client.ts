import type { ClientIdentity, Discovery, OAuthEngine } from '../auth-out/index.ts'
import { failures } from './failures.ts'
import { atProvider } from './provider-failure.ts'
import type { Renewal } from './token-store.ts'
import { type Tokens, toTokens } from './tokens.ts'

/** A public client at a provider that somebody has logged in at. */
export interface ProviderClient {
  readonly issuer: string
  readonly clientId: string
  /** Time limit of one response, in milliseconds. */
  readonly timeoutMs: number
}

/** Codes that say this refresh token, or this client, will not do again. */
const FINAL = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'invalid_target']

/**
 * Refreshes tokens. Returns why the login is over when the provider says so; a provider that cannot be asked fails with
 * `issuer_unreachable`, and the old tokens stay good.
 */
export async function refresh(
  engine: OAuthEngine,
  { issuer, clientId, timeoutMs }: ProviderClient,
  before: Tokens & { readonly refresh_token: string },
): Promise<Renewal> {
  const found = await discover(engine, { issuer, clientId, timeoutMs })
  const discovery = { ...found, resource: before.resource ?? '' }
  const tokens = { refreshToken: before.refresh_token, scopes: [] }
  const client = publicClient(issuer, clientId)
  const reach = { target: issuer, timeoutMs }
  const result = await engine.refresh({ discovery, client, settings: {}, tokens }, reach)
  if (result.kind === 'renewed') return toTokens(result.tokens, discovery.resource)
  const { problem } = result
  if (result.kind === 'transient') throw failures.issuer_unreachable({ issuer, problem })
  if (FINAL.includes(result.code)) return { over: `${issuer} does not renew it (${result.code})` }
  throw failures.login_failed({ issuer, problem })
}

/** Takes the tokens back at the provider (RFC 7009), where it can. */
export async function revoke(engine: OAuthEngine, client: ProviderClient, tokens: Tokens): Promise<void> {
  const { issuer, clientId, timeoutMs } = client
  const discovery = await discover(engine, client)
  const { refresh_token: refreshToken, access_token: accessToken } = tokens
  await atProvider(
    engine.revoke(
      {
        discovery,
        client: publicClient(issuer, clientId),
        settings: {},
        tokens: { refreshToken, accessToken },
      },
      { target: issuer, timeoutMs },
    ),
  )
}

const discover = (engine: OAuthEngine, { issuer, timeoutMs }: ProviderClient): Promise<Discovery> =>
  atProvider(engine.discoverIssuer({ issuer, scopes: [] }, { timeoutMs }))

const publicClient = (issuer: string, clientId: string): ClientIdentity => ({
  kind: 'given',
  issuer,
  clientId,
  authMethod: 'none',
})
