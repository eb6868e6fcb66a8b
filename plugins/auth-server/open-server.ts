import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import { clientAddressOf } from '../proxy/index.ts'
import { redirectUriOf } from './authorize/begin-login.ts'
import type { AddressOf } from './clients/flood-limit.ts'
import { openKeys } from './keys/open-keys.ts'
import type { AuthServerConfig } from './section.ts'
import { type AuthServer, createAuthServer } from './server.ts'
import { toSettings } from './settings.ts'
import { openStore } from './storage/open-store.ts'
import { createStoredTokens, type StoredTokens } from './swap/stored-tokens.ts'
import { openTrustedIssuer } from './tokens/trusted-issuers.ts'
import { openUpstream } from './upstream/open-upstream.ts'
import { nameOf } from './upstream/upstream-config.ts'

/** A server until its proxy closes. */
export interface OpenAuthServer extends AuthServer {
  readonly storedTokens: StoredTokens
  close(): Promise<void>
}

/** What a server is in front of. */
export interface ServerPlace {
  /** Unique among those that share a storage. */
  readonly name: string
  /** For what it keeps itself. */
  readonly folder: string
  /** What clients connect to. */
  readonly url: string
  /** Path of the certificates that are trusted at providers besides those of the system. */
  readonly caBundle?: string | undefined
  /** What stands in front says which address a request comes from. */
  readonly trustsProxy?: boolean | undefined
}

/** Puts a server together: keys, storage, upstream providers. */
export async function openServer(
  { name, folder, url, caBundle, trustsProxy = false }: ServerPlace,
  section: AuthServerConfig,
  { log, env }: Pick<App, 'log' | 'env'>,
): Promise<OpenAuthServer> {
  const settings = toSettings(section, url)
  const { signing, secrets } = await openKeys(section, { folder, log })
  const ca = await readCaBundle(caBundle)
  const store = await openStore(section.storage ?? {}, { name, folder, secrets: secrets.sealing, env, log })
  try {
    const { allowed_logins: allowedLogins = [] } = section
    const named = section.upstreams.map(upstream => ({ name: nameOf(upstream) }))
    const upstreams = await Promise.all(
      section.upstreams.map((upstream, index) =>
        openUpstream(upstream, { redirectUri: redirectUriOf(settings, named, index), store, env, ca }),
      ),
    )
    const issuers =
      section.trusted_issuers?.map(issuer => openTrustedIssuer(issuer, { allowedLogins, now: Date.now })) ??
      []
    const addressOf: AddressOf = request => clientAddressOf(request, { trust_proxy_headers: trustsProxy })
    const server = createAuthServer({
      ...{ settings, store, upstreams, issuers, secrets, keys: signing, addressOf },
    })
    const lifetimeMs = Math.max(settings.refreshTokenMs, settings.accessTokenMs)
    const storedTokens = createStoredTokens({ store, upstreams, lifetimeMs })
    return { ...server, storedTokens, close: () => store.close() }
  } catch (error) {
    await store.close()
    throw error
  }
}
