import type { UpstreamConfig } from '../section.ts'
import type { Store } from '../storage/store.ts'
import { checkUpstream } from './check-upstream.ts'
import { readSecret } from './client-secret.ts'
import { createProviderFetch, isOwnPlace } from './provider-fetch.ts'
import type { Upstream } from './upstream.ts'
import { nameOf } from './upstream-config.ts'

/**
 * Makes an upstream provider; nothing is asked of it yet. `redirectUri` is where people come back to. Fails with
 * `upstream_config_invalid`, and with `file_missing` or `file_unreadable` for its secret.
 */
export async function openUpstream(
  upstream: UpstreamConfig,
  options: {
    readonly redirectUri: string
    readonly store: Store
    readonly env: Readonly<Record<string, string | undefined>>
    /** PEM certificates that are trusted besides those of the system. */
    readonly ca?: string | undefined
    readonly now?: () => number
  },
): Promise<Upstream> {
  checkUpstream(upstream)
  const { env, ca, store, now = Date.now } = options
  const name = nameOf(upstream)
  const { oidc_config: oidc, oauth2_config: oauth2 = {} } = upstream
  const config = oidc ?? oauth2
  const secret = await readSecret(
    { file: config.client_secret_file, variable: config.client_secret_env_var },
    { name, env },
  )
  const mayBePrivate = config.allow_private_ips === true
  if (oidc) {
    const { createOidcUpstream } = await import('./oidc-upstream.ts')
    const fetch = createProviderFetch({ mayBePrivate: mayBePrivate || isOwnPlace(oidc.issuer_url), ca })
    return createOidcUpstream(oidc, { name, fetch, secret, now })
  }
  const { createOAuth2Upstream } = await import('./oauth2-upstream.ts')
  const isOwn = isOwnPlace(oauth2.token_endpoint ?? '')
  const fetch = createProviderFetch({ mayBePrivate: mayBePrivate || isOwn, ca })
  const { dcr_config: dcr, client_id: id = '', scopes = [] } = oauth2
  if (!dcr)
    return createOAuth2Upstream(oauth2, { name, fetch, now, findClient: async () => ({ id, secret }) })
  const { createUpstreamRegistration } = await import('./register-upstream-client.ts')
  const redirectUri = oauth2.redirect_uri || options.redirectUri
  const findClient = createUpstreamRegistration(dcr, { name, fetch, store, redirectUri, scopes, env, now })
  return createOAuth2Upstream(oauth2, { name, fetch, now, findClient })
}
