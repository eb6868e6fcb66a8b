import { isLoopback } from '../../../src/net/loopback.ts'
import { publicAddressProblem } from '../../../src/net/public-address-problem.ts'
import { failures } from '../failures.ts'
import { findProxy } from './find-proxy.ts'
import type { GitReference } from './git-reference.ts'
import { hostsOf, tokenFor } from './git-tokens.ts'

type Env = Readonly<Record<string, string | undefined>>

/** How a repository is reached. */
export interface GitAddress {
  readonly url: string
  readonly protocol: 'https' | 'http'
  /** The host name or address, an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  readonly allowPrivate: boolean
  /** The HTTP proxy to connect through. */
  readonly via: URL | undefined
  /** The user's token for this host; absent unless the user typed the reference. */
  readonly authorization: { readonly url: string; readonly header: string } | undefined
}

/**
 * Returns how to reach the host of a reference. Hosts on this machine and in private networks must be in
 * `KEELSON_PRIVATE_GIT_HOSTS` (host, with its port if it has one). Hosts on loopback are reached over plain
 * HTTP. Names that resolve to private addresses are refused when they are connected to.
 *
 * `typed`: whether the user typed the reference, so that their token for the host is sent.
 */
export function locateRepository(
  { host: place, repository }: GitReference,
  { env, typed }: { env: Env; typed: boolean },
): GitAddress {
  const { hostname, port } = new URL(`https://${place}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const allowPrivate = hostsOf(env.KEELSON_PRIVATE_GIT_HOSTS).has(place)
  const isOwn = isLoopback(host) || host.endsWith('.localhost')
  const isAddress = /^[\d.]+$|:/.test(host)
  if (!allowPrivate && (isOwn || (isAddress && publicAddressProblem(host)))) {
    throw failures.skill_host_refused({ host: place, problem: 'it is this machine, or in a private network' })
  }
  const protocol = isOwn ? 'http' : 'https'
  const origin = `${protocol}://${place}`
  const token = typed ? tokenFor(place, env) : undefined
  return {
    url: `${origin}/${repository}`,
    protocol,
    host,
    port: Number(port) || (isOwn ? 80 : 443),
    allowPrivate,
    via: isOwn ? undefined : findProxy(env, host),
    authorization: token === undefined ? undefined : { url: `${origin}/`, header: basic(token) },
  }
}

/** Basic authentication, which all git hosts take. */
const basic = (token: string): string => `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
