import type { App } from '../../src/app.ts'
import type { FlagTable, FlagValues } from '../../src/cli/flags.ts'
import type { AuthServerOffer, LocalIssuer } from '../../src/contracts/caller-auth.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { clientUrl } from '../proxy/index.ts'
import { checkAuthServer } from './check-config.ts'
import { failures } from './failures.ts'
import { type AuthServerFlags, readAuthServerFlags } from './flags.ts'
import type { OpenAuthServer } from './open-server.ts'
import { serverFolder } from './server-folder.ts'
import { toSettings } from './settings.ts'
import { createUpstreamTokenOf, type UpstreamTokenOf } from './swap/caller-token.ts'
import type { StoredTokens } from './swap/stored-tokens.ts'
import { nameOf } from './upstream/upstream-config.ts'

/**
 * The authorization servers of workloads, and that of the management API. In a run config, `port` is the one that the
 * proxy listens on.
 */
export interface AuthServers {
  /** Opens the server of a workload. Fails with `auth_server_config_invalid` and `auth_store_unavailable`. */
  open(config: RunConfig): Promise<OpenAuthServer>
  /**
   * Returns the issuer whose tokens the workload accepts; undefined where it has no authorization server. Its keys
   * can be asked for once the proxy is open.
   */
  issuerOf(config: RunConfig): Promise<LocalIssuer | undefined>
  /**
   * Makes what returns the tokens of callers at an upstream provider; it works once the proxy is open. Fails with
   * `upstream_unknown`.
   */
  upstreamTokensOf(config: RunConfig, provider: string): Promise<UpstreamTokenOf>
  /**
   * Returns the server that the flags of `serve` ask for; undefined when they ask for none. Fails with
   * `auth_server_config_invalid`, and as `readAuthServerFlags`.
   */
  fromFlags(values: FlagValues<FlagTable>, given: ReadonlySet<string>): Promise<AuthServerOffer | undefined>
}

export function createAuthServers(app: Pick<App, 'paths' | 'log' | 'env'>): AuthServers {
  /** By the name of the workload. */
  const opened = new Map<string, Promise<OpenAuthServer>>()

  async function find(name: string): Promise<OpenAuthServer> {
    const server = await opened.get(name)
    if (server) return server
    throw new Error(`the authorization server of ${name} is not open`)
  }

  async function issuerOf(config: RunConfig): Promise<LocalIssuer | undefined> {
    const { name, embedded_auth_server_config: section } = config
    if (!section) return undefined
    const { issuer, audiences, scopes } = toSettings(section, clientUrl(config))
    return {
      ...{ issuer, audience: audiences[0], scopes },
      keys: async () => (await find(name)).publishedKeys(),
      isActive: async claims => (await find(name)).isActive(claims),
    }
  }

  return {
    issuerOf,
    async open(config) {
      const { name, embedded_auth_server_config: section } = config
      if (!section) throw new Error(`${name} has no authorization server`)
      const folder = serverFolder(app.paths, name)
      const place = {
        name,
        folder,
        url: clientUrl(config),
        caBundle: config.svc_ca_bundle,
        trustsProxy: config.trust_proxy_headers,
      }
      const opening = import('./open-server.ts').then(({ openServer }) => openServer(place, section, app))
      opened.set(name, opening)
      const forget = () => {
        if (opened.get(name) === opening) opened.delete(name)
      }
      opening.catch(forget)
      const server = await opening
      const close = (): Promise<void> => {
        forget()
        return server.close()
      }
      return { ...server, close }
    },
    async fromFlags(values, given) {
      const section = await readAuthServerFlags(values as AuthServerFlags, given)
      if (!section) return undefined
      checkAuthServer(section)
      const { 'svc-ca-bundle': bundle } = values
      const caBundle = typeof bundle === 'string' ? bundle : undefined
      return (await import('./api-server.ts')).createApiServer(section, caBundle, app)
    },
    async upstreamTokensOf(config, provider) {
      const { name, embedded_auth_server_config: section } = config
      const own = await issuerOf(config)
      const providers = section?.upstreams.map(nameOf) ?? []
      if (!own || !providers.includes(provider)) throw failures.upstream_unknown({ provider, providers })
      const accessToken: StoredTokens['accessToken'] = async (grantId, of) =>
        (await find(name)).storedTokens.accessToken(grantId, of)
      return createUpstreamTokenOf(own, { accessToken }, provider)
    },
  }
}
