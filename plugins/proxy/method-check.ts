import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { rpcRefusal } from './request-refusal.ts'
import { revision20260728, revisionOf } from './revisions/index.ts'

/** Answers 405 to methods that the revision spoken, or a stateless server, has no use for. */
export function createMethodCheck(config: RunConfig): Middleware {
  return {
    name: 'methods',
    stage: 'guard',
    wrap: next => exchange => {
      const { method = 'GET', headers } = exchange.request
      const { methods } = config.stateless ? revision20260728 : revisionOf(headers['mcp-protocol-version'])
      if (methods && !methods.includes(method)) {
        throw rpcRefusal(405, -32600, `${method} is not used by a stateless server`, {
          headers: { allow: methods.join(', ') },
        })
      }
      return next(exchange)
    },
  }
}
