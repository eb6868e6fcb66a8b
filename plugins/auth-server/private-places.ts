import { isLoopback } from '../../src/net/loopback.ts'
import type { AuthServerConfig, UpstreamConfig } from './section.ts'
import { nameOf } from './upstream/upstream-config.ts'

/**
 * Returns what a configuration has us connect to though it may be in a private network, or on this machine. Everything
 * else is judged when a connection is made (`guardedFetch`), and has to be public.
 */
export const privatePlaces = ({ upstreams, storage }: AuthServerConfig): readonly string[] => [
  ...upstreams.flatMap(ofUpstream),
  ...(storage?.redis_config ? ['Redis'] : []),
]

function ofUpstream(upstream: UpstreamConfig): string[] {
  const { oidc_config: oidc, oauth2_config: oauth2 } = upstream
  const urls = [
    ...[oidc?.issuer_url, oidc?.userinfo_override?.endpoint_url],
    ...[oauth2?.token_endpoint, oauth2?.userinfo?.endpoint_url],
    ...[oauth2?.dcr_config?.registration_endpoint, oauth2?.dcr_config?.discovery_url],
  ]
  const own = urls.find(url => isLoopback(URL.parse(url ?? '')?.hostname ?? ''))
  if (own !== undefined) return [own]
  const isAllowed = oidc?.allow_private_ips || oauth2?.allow_private_ips
  return isAllowed ? [`what the provider "${nameOf(upstream)}" names (allow_private_ips)`] : []
}
