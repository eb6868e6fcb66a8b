import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../net/loopback.ts'
import { httpFailures } from './failures.ts'
import { isFromOtherSite, opensPage } from './other-site.ts'

/** Where a server listens, as far as its callers' names for it go. */
export type ListensAt =
  | {
      readonly host: string /** Every request brings a token, which no page has. */
      readonly anyName?: boolean
    }
  | { readonly socket: string }

/** Throws for requests that are not answered at all. */
export type Guard = (request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) => void

/**
 * Answers a check of `Host`, `Origin` and `Sec-Fetch-Site`, which throws for what a page of another site has sent.
 *
 * A page can be rebound to us by DNS, but then `Host` is its own name: only names that mean this machine
 * and bare addresses are taken. What a page of another origin sends by itself carries that `Origin`; what needs
 * none says which site it is of, and gets nowhere but to the page at `/`, as a link to it.
 */
export function createCallerGuard(listens: ListensAt): Guard {
  if ('socket' in listens) return () => undefined // no browser reaches it
  const names = new Set(['localhost', listens.host.toLowerCase()])
  const local = isLoopback(listens.host)
  if (!local) names.add(hostname().toLowerCase())

  const isOurs = (name: string): boolean => {
    if (listens.anyName || names.has(name)) return true
    const address = name.replace(/^\[|\]$/g, '')
    return local ? isLoopback(address) : isIP(address) > 0
  }

  return ({ method, url, headers }) => {
    const { host, origin } = headers
    if (host !== undefined && !isOurs(hostNameOf(host)))
      throw httpFailures.host_refused({ host: host.slice(0, 260) })
    if (origin !== undefined) {
      const calling = URL.parse(origin)
      if (!calling || calling.host.toLowerCase() !== withoutDefaultPort(host, calling.protocol))
        throw httpFailures.origin_refused()
    }
    if (isFromOtherSite(headers) && !(method === 'GET' && pathOf(url) === '/' && opensPage(headers)))
      throw httpFailures.site_refused()
  }
}

const pathOf = (url: string | undefined): string | undefined => url?.split('?', 1)[0]

const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

const withoutDefaultPort = (host: string | undefined, protocol: string): string | undefined =>
  host?.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
