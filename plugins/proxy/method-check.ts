import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { rpcRefusal } from './request-refusal.ts'
import { revision20260728, revisionOf } from './revisions/index.ts'

/** Refuses (405) methods that the protocol revision of the request, or a stateless server, does not have. */
export function createMethodCheck(config: RunConfig): Middleware {
  return {
    name: 'method-check',
    stage: 'method',
    summary: config.stateless ? 'stateless: POST only' : undefined,
    wrap: next => exchange => {
      const { method = 'GET', headers } = exchange.request
      const { methods } = config.stateless ? revision20260728 : revisionOf(headers['mcp-protocol-version'])
      if (methods && !methods.includes(method)) {
        throw rpcRefusal(405, INVALID_REQUEST, `${method} is not used by a stateless server`, {
          headers: { allow: methods.join(', ') },
        })
      }
      return next(exchange)
    },
  }
}
