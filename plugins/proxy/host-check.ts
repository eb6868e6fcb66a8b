import { isIP, isIPv4 } from 'node:net'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { canonicalOrigin, hostNameOf, isMachineName } from '../../src/net/host-names.ts'
import { isLoopback } from '../../src/net/loopback.ts'

/**
 * Names that mean this machine to whoever asks: browsers resolve them without DNS, or DNS cannot be made to
 * resolve them (`.internal` is reserved for private use), so a page cannot be rebound to them.
 */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal', 'host.containers.internal']

/** Judges `Host` and, behind a proxy that is trusted, `X-Forwarded-Host`; undefined: not sent. */
export type HostCheck = (host: string, forwarded: string | undefined) => boolean

/**
 * Which names are ours, which defeats DNS rebinding. A permission profile may name them
 * (`inbound.allow_host`): then they are exact.
 *
 * On loopback they are names of this machine with our port, or hosts of allowed origins. On other addresses,
 * and behind a proxy that is trusted, ports may be mapped and do not count; there bare addresses and the
 * name of this machine are ours as well.
 */
export function createHostCheck(config: RunConfig, listener: { host: string; port: number }): HostCheck {
  if (config.trust_proxy_headers) return createTrustingCheck(config, listener)
  const inbound = inboundOf(config)
  if (inbound.length) return isAmong(inbound.flatMap(host => spellings(host, listener.port)))
  if (!isLoopback(listener.host)) {
    const named = isNamed(config)
    return host => isOwn(hostNameOf(host), listener) || named(hostNameOf(host))
  }
  const names = isIPv4(listener.host) ? [...LOCAL_NAMES, listener.host] : LOCAL_NAMES
  return isAmong([...names.flatMap(name => spellings(name, listener.port)), ...originHosts(config)])
}

/**
 * What the proxy in front was asked for has to be ours, and what it, or whoever came past it, asked us for.
 * The second matters: a page that is rebound to us may send any `X-Forwarded-Host`.
 */
function createTrustingCheck(config: RunConfig, listener: { host: string }): HostCheck {
  const named = isNamed(config)
  const exact = inboundOf(config).length > 0
  const ours = (name: string) => named(name) || (!exact && isOwn(name, listener))
  return (host, forwarded) =>
    (ours(hostNameOf(host)) || isOwn(hostNameOf(host), listener)) && ours(hostNameOf(forwarded ?? host))
}

/** Warns when the proxy in front is probably reached by a name that is not allowed. */
export function warnOfUnnamedHosts(config: RunConfig, log: Log): void {
  if (!config.trust_proxy_headers || inboundOf(config).length || config.allowed_origins?.length) return
  log.warn('behind the trusted proxy, only addresses and names of this machine are accepted', {
    hint: 'name the origins of the proxy in front with --allowed-origins',
  })
}

const inboundOf = (config: RunConfig): string[] =>
  (config.permission_profile?.network?.inbound?.allow_host ?? []).map(host => host.toLowerCase())

const originHosts = (config: RunConfig): string[] =>
  (config.allowed_origins ?? []).flatMap(origin => canonicalOrigin(origin)?.split('://')[1] ?? [])

const isAmong = (hosts: readonly string[]) => {
  const known = new Set(hosts)
  return (host: string) => known.has(host.toLowerCase())
}

/** Names that the configuration says are ours. */
function isNamed(config: RunConfig): (name: string) => boolean {
  const inbound = inboundOf(config)
  return isAmong(inbound.length ? inbound.map(bracketed) : originHosts(config).map(hostNameOf))
}

const isOwn = (name: string, listener: { host: string }): boolean =>
  LOCAL_NAMES.includes(name) || isMachineName(name, listener.host)

const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

/** How clients write a host in `Host`: port 80 may be left out (RFC 9110 section 7.2). */
const spellings = (host: string, port: number): string[] => {
  const name = bracketed(host)
  return [`${name}:${port}`, ...(port === 80 ? [name] : [])]
}
