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
  /** Without brackets. */
  readonly host: string
  readonly port: number
  readonly allowPrivate: boolean
  /** The HTTP proxy on the way there. */
  readonly via: URL | undefined
  /** What the user has given for this host; never for a reference that somebody else wrote. */
  readonly authorization: { readonly url: string; readonly header: string } | undefined
}

/**
 * Where a reference leads. Hosts of this machine and of private networks only if
 * `KEELSON_PRIVATE_GIT_HOSTS` names them (host, with its port if it has one); those on loopback are
 * spoken to in plain HTTP. Names that lead to such addresses are found out when they are connected to.
 *
 * `typed`: the reference is the user's own word, so their token for its host goes there.
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
