import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isFromOtherSite } from '../../src/http/other-site.ts'
import { createHostCheck } from './host-check.ts'
import { createOriginCheck } from './origin-check.ts'
import { forwardedHostOf } from './public-base.ts'
import { assertAnnouncedLength } from './request-body.ts'
import { rpcRefusal } from './request-refusal.ts'

/** The outermost middleware: who may ask at all (Host, Origin, Sec-Fetch-Site), and how much they may send. */
export function createGuard(config: RunConfig, listener: { host: string; port: number }): Middleware {
  const isOurs = createHostCheck(config, listener)
  const isAllowed = createOriginCheck(config, listener)
  return {
    name: 'guard',
    stage: 'guard',
    wrap: next => exchange => {
      const { host, origin } = exchange.request.headers
      const forwarded = forwardedHostOf(exchange.request, config)
      // HTTP/1.0 clients may send no Host; browsers always do.
      if (host !== undefined && !isOurs(host, forwarded)) {
        throw rpcRefusal(403, -32600, 'Host not allowed')
      }
      if (origin !== undefined) {
        const hosts = [host, forwarded].filter(name => name !== undefined)
        if (!isAllowed(origin, hosts)) throw rpcRefusal(403, -32600, 'Origin not allowed')
      } else if (isFromOtherSite(exchange.request.headers)) {
        throw rpcRefusal(403, -32600, 'Requests of other sites are not allowed')
      }
      assertAnnouncedLength(exchange.request)
      return next(exchange)
    },
  }
}
