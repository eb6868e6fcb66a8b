import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { assertToken } from './assert-token.ts'
import { exchangeOf } from './section.ts'

/** Gives requests the token that the token of their caller, or of the remote login, is exchanged for. */
export const tokenExchangeMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log }) => {
    const exchange = exchangeOf(config)
    if (!exchange) return undefined
    assertToken(config)
    const { createExchangeMiddleware } = await import('./exchange-middleware.ts')
    return createExchangeMiddleware(app, config, { exchange, log })
  }
