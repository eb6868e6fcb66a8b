import { hostNameOf, isMachineName, isOriginOfHost } from '../net/host-names.ts'
import { isLoopback } from '../net/loopback.ts'
import { httpFailures } from './failures.ts'
import { findSiteProblem, opensPage, type SiteRequest, type SiteRules } from './site-check.ts'

/** Where a server listens, as far as its callers' names for it go. */
export type ListensAt =
  | {
      readonly host: string /** Every request brings a token, which no page has. */
      readonly anyName?: boolean
      /** Paths that links of other sites may lead to, besides `/`. */
      readonly pages?: readonly string[] | undefined
    }
  | { readonly socket: string }

/** Throws for requests that pages of other sites cause. */
export type SiteGuard = (request: SiteRequest) => void

/**
 * Makes a check of `Host`, `Origin` and `Sec-Fetch-Site` that throws for requests of pages of other sites.
 *
 * A page can be rebound to us by DNS, but then `Host` is its own name: only names that mean this machine
 * and bare addresses are taken. What a page of another origin sends by itself carries that `Origin`; what needs
 * none says which site it is of, and gets nowhere but to pages for people, as a link to them.
 */
export function createSiteGuard(listens: ListensAt): SiteGuard {
  if ('socket' in listens) return () => undefined // no browser reaches it
  const { host: listenerHost, anyName = false, pages = [] } = listens
  const local = isLoopback(listenerHost)
  const rules: SiteRules = {
    isOwnHost(host) {
      const name = hostNameOf(host)
      if (anyName) return true
      if (!local) return isMachineName(name, listenerHost)
      const isNamed = name === 'localhost' || name === listenerHost.toLowerCase()
      return isNamed || isLoopback(name.replace(/^\[|\]$/g, ''))
    },
    isAllowedOrigin: (origin, { headers }) =>
      headers.host !== undefined && isOriginOfHost(origin, headers.host),
    isAllowedFromOtherSite: ({ method, url, headers }) =>
      method === 'GET' && ['/', ...pages].includes(pathOf(url) ?? '') && opensPage(headers),
  }
  return request => {
    const problem = findSiteProblem(request, rules)
    if (problem === 'host')
      throw httpFailures.host_refused({ host: (request.headers.host ?? '').slice(0, 260) })
    if (problem === 'origin') throw httpFailures.origin_refused()
    if (problem === 'other-site') throw httpFailures.site_refused()
  }
}

const pathOf = (url: string | undefined): string | undefined => url?.split('?', 1)[0]
