import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { awsStsOf } from './section.ts'

/** Signs requests with credentials of AWS that the token of their caller gives. */
export const awsStsMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, { port }, { log }) => {
    const aws = awsStsOf(config)
    if (!aws) return undefined
    const { createSigningMiddleware } = await import('./signing-middleware.ts')
    return createSigningMiddleware(app, config, { aws, log, port })
  }
