import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { rateLimitOf } from './section.ts'

/** Limits the calls of tools, where the run config says so. */
export const rateLimitMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log }) => {
    if (!rateLimitOf(config)) return undefined
    const { createLimitMiddleware } = await import('./limit-middleware.ts')
    return createLimitMiddleware(config, { log, env: app.env })
  }
