import { isLoopback } from '../../../src/net/loopback.ts'
import { isPublicAddress } from '../../../src/net/public-address.ts'
import { failures } from './failures.ts'
import { findProxy } from './find-proxy.ts'
import type { GitReference } from './git-reference.ts'

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
  /** What the user has given for this host. */
  readonly authorization: { readonly url: string; readonly header: string } | undefined
}

/**
 * Where a reference leads. Hosts of this machine and of private networks only if
 * `KEELSON_PRIVATE_GIT_HOSTS` names them (host, with its port if it has one); those on loopback are
 * spoken to in plain HTTP. Names that lead to such addresses are found out when they are connected to.
 */
export function locateRepository({ host: place, repository }: GitReference, env: Env): GitAddress {
  const { hostname, port } = new URL(`https://${place}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const allowPrivate = listOf(env.KEELSON_PRIVATE_GIT_HOSTS).has(place)
  const isOwn = isLoopback(host) || host.endsWith('.localhost')
  const isAddress = /^[\d.]+$|:/.test(host)
  if (!allowPrivate && (isOwn || (isAddress && !isPublicAddress(host)))) {
    throw failures.skill_host_refused({ host: place, problem: 'it is this machine, or in a private network' })
  }
  const protocol = isOwn ? 'http' : 'https'
  const origin = `${protocol}://${place}`
  const header = authorizationFor(host, env)
  return {
    url: `${origin}/${repository}`,
    protocol,
    host,
    port: Number(port) || (isOwn ? 80 : 443),
    allowPrivate,
    via: isOwn ? undefined : findProxy(env, host),
    authorization: header === undefined ? undefined : { url: `${origin}/`, header },
  }
}

const listOf = (text = ''): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  )

/** The token for a host, as basic authentication, which all git hosts take. */
function authorizationFor(host: string, env: Env): string | undefined {
  const token =
    (host === 'github.com' && env.GITHUB_TOKEN) ||
    (host === 'gitlab.com' && env.GITLAB_TOKEN) ||
    env.GIT_TOKEN
  return token ? `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` : undefined
}
