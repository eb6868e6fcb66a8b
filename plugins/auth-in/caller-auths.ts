import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { FlagTable, FlagValues } from '../../src/cli/flags.ts'
import type { CallerAuth, CallerAuthConfig, LocalIssuer } from '../../src/contracts/caller-auth.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { clientUrl } from '../proxy/index.ts'
import { parseAllowed } from './allowed-callers.ts'
import { assertUsable } from './assert-usable.ts'
import { clientSecretOf } from './client-secret.ts'
import { environmentSecret, warnOfTypedSecret } from './environment-secret.ts'
import { type OidcFlags, readOidcFlags } from './flags.ts'
import type { OidcConfig } from './oidc-config.ts'
import { oidcOf } from './section.ts'
import { toCallerAuthConfig } from './to-caller-auth-config.ts'

/** Makes the checks of callers. */
export interface CallerAuths {
  /** `local`: an authorization server whose tokens are accepted, too. Fails with `auth_config_invalid`. */
  create(config: CallerAuthConfig | undefined, local?: LocalIssuer): Promise<CallerAuth>
  /**
   * Returns what the flags of `serve` say of a provider; undefined when they name none. Fails with
   * `auth_config_invalid`.
   */
  fromFlags(values: FlagValues<FlagTable>): Promise<CallerAuthConfig | undefined>
  /** Whether callers of a workload have to log in. */
  isRequired(config: RunConfig): Promise<boolean>
  /**
   * Returns the authentication of one proxy, the same for each `listener`; undefined when no login is required. Fails
   * with `auth_config_invalid` or `oidc_secret_missing`.
   */
  ofWorkload(
    config: RunConfig,
    listener: { host: string; port: number },
    log: Log,
  ): Promise<CallerAuth | undefined>
}

/** What checks tokens is loaded when somebody has to log in. */
export function createCallerAuths(app: App): CallerAuths {
  const made = new WeakMap<object, Promise<CallerAuth | undefined>>()
  const parts = (log: Log) => ({ log, keysFolder: join(app.paths.cache, 'issuer-keys') })
  const create: CallerAuths['create'] = async (config, local) =>
    (await import('./service.ts')).createCallerAuth(config, {
      ...parts(app.log),
      local,
      resourceUrl: config?.resourceUrl ?? urlOf(local?.audience),
    })

  async function make(config: RunConfig, listener: { host: string; port: number }, log: Log) {
    const [oidc, local] = [oidcOf(config), await localIssuerOf({ ...config, port: listener.port })]
    if (!oidc && !local) return undefined
    // Beyond loopback, what clients call this proxy is not known.
    const own = isLoopback(listener.host) ? clientUrl(config, listener.port).split('#', 1)[0] : undefined
    const { createCallerAuth } = await import('./service.ts')
    return createCallerAuth(oidc && (await atProvider(config, oidc)), {
      ...parts(log),
      local,
      resourceUrl: oidc?.resourceURL ?? urlOf(local?.audience) ?? own,
    })
  }

  /** What an `oidc_config` says, with what its files and the secrets provider hold. */
  const atProvider = async (config: RunConfig, oidc: OidcConfig): Promise<CallerAuthConfig> => ({
    ...toCallerAuthConfig(oidc),
    clientSecret: await clientSecretOf(app, oidc, config.name),
    ca: await readCaBundle(oidc.cacertPath || config.svc_ca_bundle),
  })

  const localIssuerOf = async (config: RunConfig): Promise<LocalIssuer | undefined> =>
    (await app.find('authServers'))?.issuerOf(config)

  return {
    create,
    async fromFlags(values) {
      const flags = values as OidcFlags
      const oidc = readOidcFlags(flags)
      if (!oidc) return undefined
      warnOfTypedSecret(app, flags)
      const typed = await clientSecretOf(app, oidc, '')
      const { 'svc-ca-bundle': bundle } = values
      const config: CallerAuthConfig = {
        ...toCallerAuthConfig(oidc),
        clientSecret: typed ?? (oidc.clientID ? environmentSecret(app) : undefined),
        ca: await readCaBundle(typeof bundle === 'string' ? bundle : undefined),
      }
      assertUsable(config)
      parseAllowed(config.allow ?? [])
      return config
    },
    isRequired: async config => oidcOf(config) !== undefined || (await localIssuerOf(config)) !== undefined,
    ofWorkload(config, listener, log) {
      const auth = made.get(listener) ?? make(config, listener, log)
      made.set(listener, auth)
      return auth
    },
  }
}

/** An audience may be any text, and the resource of RFC 9728 is a URL. */
const urlOf = (audience: string | undefined): string | undefined =>
  audience !== undefined && /^https?:/.test(audience) && URL.canParse(audience) ? audience : undefined
