import type { App } from '../../../src/app.ts'
import type { Handler, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { isFailure } from '../../../src/errors.ts'
import { refuseToken, refuseUnavailable } from '../../proxy/index.ts'
import type { UpstreamTokenOf } from './caller-token.ts'
import { type Swap, swapOf } from './section.ts'

/** How long clients shall wait after a refusal, in seconds. */
const RETRY_SECONDS = 10

/** What callers log in with at us: no server gets it. */
const OF_CALLERS = ['authorization', 'cookie', 'proxy-authorization']

/** Gives requests the token of the caller at an upstream provider in place of ours. Without it they go nowhere. */
export const upstreamSwapMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, listener) => {
    if (!config.embedded_auth_server_config) return undefined
    const swap = swapOf(config)
    const servers = await app.service('authServers')
    const tokenOf =
      swap && (await servers.upstreamTokensOf({ ...config, port: listener.port }, swap.provider))

    const exchangeTokens =
      (next: Handler, tokenOf: UpstreamTokenOf, { header }: Swap): Handler =>
      async exchange => {
        const token = await tokenOf(exchange.caller).catch(async error => {
          if (!isFailure(error) || error.status !== 503) throw error
          throw await refuseUnavailable(exchange, error.message, RETRY_SECONDS)
        })
        if (token === undefined) {
          const description = 'There is no valid token of the upstream provider. Log in again.'
          return refuseToken(exchange, 401, { error: 'invalid_token', description })
        }
        exchange.setHeader(header, `Bearer ${token}`)
        return next(exchange)
      }

    return {
      name: 'upstream-swap',
      stage: 'credentials',
      summary: swap && `token of the caller at ${swap.provider}`,
      wrap(next) {
        const proceed = swap && tokenOf ? exchangeTokens(next, tokenOf, swap) : next
        return exchange => {
          for (const name of OF_CALLERS) {
            if (!exchange.ownHeaders?.get(name)) exchange.setHeader(name, undefined)
          }
          return proceed(exchange)
        }
      },
    }
  }
