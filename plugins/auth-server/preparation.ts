import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { failures } from './failures.ts'
import { privatePlaces } from './private-places.ts'
import type { AuthServerConfig } from './section.ts'
import { sentCredentials } from './sent-credentials.ts'
import { FIRST_TOKEN } from './swap/first-token.ts'
import { swapOf } from './swap/section.ts'
import { nameOf } from './upstream/upstream-config.ts'

/**
 * A run config of a file may be a stranger's, and what it takes from files and variables goes to places that it names:
 * the person has to name them, too. So they have to name the provider whose tokens the server gets: the file may name
 * one where they have a login already. And they have to allow addresses of private networks. Fails with
 * `auth_server_credential_unconfirmed`, `auth_server_tokens_unconfirmed` and `auth_server_private_unconfirmed`.
 */
export const authServerPreparation = (): Preparation => ({
  async complete(given, { options }) {
    const config = withStrategy(given)
    const { embedded_auth_server_config: section } = config
    if (!section || options['from-config'] === undefined) return config
    const confirmed = options['auth-server-credential'] ?? []
    const other = sentCredentials(section).find(({ source }) => !confirmed.includes(source))
    if (other) throw failures.auth_server_credential_unconfirmed(other)
    const provider = shownProvider(config, section)
    if (provider !== undefined && !confirmed.includes(provider)) {
      const server = config.remote_url || `"${config.name}"`
      throw failures.auth_server_tokens_unconfirmed({ provider, server })
    }
    const [place] = options['auth-server-allow-private-ip'] ? [] : privatePlaces(section)
    if (place !== undefined) throw failures.auth_server_private_unconfirmed({ place })
    return config
  },
})

/** In requests, a section that says nothing takes one away. */
const withStrategy = (config: RunConfig): RunConfig =>
  config.upstream_swap_config && isEmpty(config.upstream_swap_config)
    ? { ...config, upstream_swap_config: FIRST_TOKEN }
    : config

/** Where people get the tokens that the server is sent; undefined where it gets none. */
function shownProvider(config: RunConfig, { upstreams }: AuthServerConfig): string | undefined {
  const swap = swapOf(config)
  const { oidc_config: oidc, oauth2_config: oauth2 } =
    upstreams.find(upstream => nameOf(upstream) === swap?.provider) ?? {}
  return swap && (oidc?.issuer_url ?? oauth2?.token_endpoint)
}
