import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Callers } from '../../src/http/callers.ts'
import { isFromOtherSite } from '../../src/http/other-site.ts'
import { createHostCheck } from './host-check.ts'
import { createOriginCheck } from './origin-check.ts'
import { forwardedHostOf } from './public-base.ts'
import { assertAnnouncedLength } from './request-body.ts'
import { refuseCaller, rpcRefusal, textRefusal } from './request-refusal.ts'

/**
 * The outermost middleware. It refuses other users of this machine, pages of other sites (Host, Origin,
 * Sec-Fetch-Site), requests for a forward proxy, and bodies that announce too many bytes.
 */
export function createGuard(
  config: RunConfig,
  listener: { host: string; port: number },
  callers: Pick<Callers, 'problemOf'>,
): Middleware {
  const isOurs = createHostCheck(config, listener)
  const isAllowed = createOriginCheck(config, listener)
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
      const { host, origin } = request.headers
      const forwarded = forwardedHostOf(request, config)
      // HTTP/1.0 clients may send no Host; browsers always do.
      if (host !== undefined && !isOurs(host, forwarded)) {
        throw rpcRefusal(403, -32600, 'Host not allowed')
      }
      if (origin !== undefined) {
        const hosts = [host, forwarded].filter(name => name !== undefined)
        if (!isAllowed(origin, hosts)) throw rpcRefusal(403, -32600, 'Origin not allowed')
      } else if (isFromOtherSite(request.headers)) {
        throw rpcRefusal(403, -32600, 'Requests of other sites are not allowed')
      }
      assertAnnouncedLength(request)
      return next(exchange)
    },
  }
}
