import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Callers } from '../../src/http/callers.ts'
import { findSiteProblem, opensPage, type SiteRules } from '../../src/http/site-check.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { createHostCheck } from './host-check.ts'
import { createOriginCheck } from './origin-check.ts'
import { forwardedHostOf } from './public-base.ts'
import { assertAnnouncedLength, type BodyRules } from './request-body.ts'
import { refuseCaller, rpcRefusal, textRefusal } from './request-refusal.ts'

const SITE_REFUSALS = {
  host: 'Host not allowed',
  origin: 'Origin not allowed',
  'other-site': 'Requests of other sites are not allowed',
}

function siteRules(
  config: RunConfig,
  listener: { host: string; port: number },
  { pages, origins }: { pages: readonly string[]; origins: readonly string[] },
): SiteRules {
  const named = [...(config.allowed_origins ?? []), ...origins]
  const isOurs = createHostCheck({ ...config, allowed_origins: named }, listener)
  const isAllowed = createOriginCheck(config, listener)
  return {
    isOwnHost: (host, request) => isOurs(host, forwardedHostOf(request, config)),
    isAllowedOrigin(origin, request) {
      const hosts = [request.headers.host, forwardedHostOf(request, config)]
      return isAllowed(
        origin,
        hosts.filter(host => host !== undefined),
      )
    },
    // An origin that has been allowed is often another site, and logins come from pages of others.
    isAllowedFromOtherSite: ({ method, url = '', headers }) =>
      headers.origin !== undefined ||
      (method === 'GET' && opensPage(headers) && pages.includes(url.split('?', 1)[0] ?? '')),
  }
}

/**
 * The outermost middleware but for the audit. It refuses other users of this machine, pages of other sites (Host, Origin,
 * Sec-Fetch-Site), requests for a forward proxy, and bodies that announce too many bytes.
 */
export function createGuard(
  config: RunConfig,
  listener: { host: string; port: number },
  options: {
    /** Tells users of this machine apart; undefined where callers log in, which decides then. */
    callers: Pick<Callers, 'problemOf'> | undefined
    /** Paths that links of other sites may lead to. */
    pages: readonly string[]
    /** What callers know the proxy by, besides its address: their hosts are ours. */
    origins: readonly string[]
    rules: BodyRules
  },
): Middleware {
  const { callers } = options
  const rules = siteRules(config, listener, options)
  return {
    name: 'guard',
    stage: 'guard',
    summary: callers && describeCallers(listener),
    wrap: next => exchange => {
      const { request } = exchange
      const problem = callers?.problemOf(request)
      if (problem) throw refuseCaller(problem)
      // An absolute URL asks for a forward proxy (RFC 9112, section 3.2.2), which this is not.
      if (request.url?.charCodeAt(0) !== 0x2f && request.url !== '*') {
        throw textRefusal(400, 'The request target must be a path.')
      }
      const siteProblem = findSiteProblem(request, rules)
      if (siteProblem) throw rpcRefusal(403, INVALID_REQUEST, SITE_REFUSALS[siteProblem])
      assertAnnouncedLength(request, options.rules)
      return next(exchange)
    },
  }
}

const describeCallers = ({ host }: { host: string }): string =>
  isLoopback(host)
    ? 'your user on this machine, or with the caller token'
    : 'no login: whoever reaches the port, or with the caller token where one is set'
