import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Callers } from '../../src/http/callers.ts'
import { findSiteProblem, type SiteRules } from '../../src/http/site-check.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { createHostCheck } from './host-check.ts'
import { createOriginCheck } from './origin-check.ts'
import { forwardedHostOf } from './public-base.ts'
import { assertAnnouncedLength } from './request-body.ts'
import { refuseCaller, rpcRefusal, textRefusal } from './request-refusal.ts'

const SITE_REFUSALS = {
  host: 'Host not allowed',
  origin: 'Origin not allowed',
  'other-site': 'Requests of other sites are not allowed',
}

function siteRules(config: RunConfig, listener: { host: string; port: number }): SiteRules {
  const isOurs = createHostCheck(config, listener)
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
    // An origin that has been allowed is often another site.
    isAllowedFromOtherSite: ({ headers }) => headers.origin !== undefined,
  }
}

/**
 * The outermost middleware. It refuses other users of this machine, pages of other sites (Host, Origin,
 * Sec-Fetch-Site), requests for a forward proxy, and bodies that announce too many bytes.
 */
export function createGuard(
  config: RunConfig,
  listener: { host: string; port: number },
  callers: Pick<Callers, 'problemOf'>,
): Middleware {
  const rules = siteRules(config, listener)
  return {
    name: 'guard',
    stage: 'guard',
    wrap: next => exchange => {
      const { request } = exchange
      const problem = callers.problemOf(request)
      if (problem) throw refuseCaller(problem)
      // An absolute URL asks for a forward proxy (RFC 9112, section 3.2.2), which this is not.
      if (request.url?.charCodeAt(0) !== 0x2f && request.url !== '*') {
        throw textRefusal(400, 'The request target must be a path.')
      }
      const siteProblem = findSiteProblem(request, rules)
      if (siteProblem) throw rpcRefusal(403, INVALID_REQUEST, SITE_REFUSALS[siteProblem])
      assertAnnouncedLength(request)
      return next(exchange)
    },
  }
}
