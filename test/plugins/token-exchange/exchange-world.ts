import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { keepCallerToken } from '../../../plugins/auth-in/caller-token.ts'
import { createOAuthEngine } from '../../../plugins/auth-out/oauth/engine.ts'
import { tokenExchangeMiddleware } from '../../../plugins/token-exchange/middleware.ts'
import type { TokenExchangeConfig } from '../../../plugins/token-exchange/section.ts'
import type { App } from '../../../src/app.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { type IdentityProvider, identityProvider } from '../../support/identity-provider.ts'
import { post, rpc, type TestProxy, testProxy, testServer } from '../proxy/test-proxy.ts'

/** What the exchange uses of the program. */
const app = {
  env: {},
  service: async (name: string) => {
    if (name === 'oauthEngine') return createOAuthEngine()
    throw new Error(`the exchange asks for ${name}`)
  },
} as unknown as App

/** Stands for the check of callers: the token of a request is that of its caller. */
const accepting: MiddlewareFactory = async () => ({
  name: 'authenticate',
  stage: 'authenticate',
  wrap: next => exchange => {
    const token = exchange.request.headers.authorization?.replace(/^Bearer /, '')
    if (token) keepCallerToken(exchange, token)
    exchange.setHeader('authorization', undefined)
    return next(exchange)
  },
})

/** A provider that exchanges tokens, a server, and a proxy between callers and the server. */
export interface ExchangeWorld {
  readonly provider: IdentityProvider
  readonly proxy: TestProxy
  /** Headers that the server got, one for each request. */
  readonly seen: IncomingHttpHeaders[]
  /** From now on the server refuses these values of `Authorization` with 401. */
  readonly refused: Set<string>
  /** A token of the provider for somebody. */
  tokenOf(name: string): Promise<string>
  /** Calls the server with a token. */
  call(token: string | undefined): Promise<{ status: number; headers: Headers; text: string }>
  /** How often the provider was asked to exchange. */
  exchanges(): number
}

export const AUDIENCE = 'https://api.example'

export async function exchangeWorld(
  said: Partial<TokenExchangeConfig> = {},
  options: {
    config?: Partial<RunConfig>
    /** Stages before the exchange, instead of the check of callers. */
    middlewares?: readonly MiddlewareFactory[]
  } = {},
): Promise<ExchangeWorld> {
  const provider = await identityProvider({ exchanges: true, audience: AUDIENCE })
  const seen: IncomingHttpHeaders[] = []
  const refused = new Set<string>()
  const target = await testServer((request, response) => {
    seen.push(request.headers)
    request.resume()
    if (refused.has(request.headers.authorization ?? '')) {
      return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    }
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const config = {
    remote_url: join(target, 'mcp').replace(':/', '://'),
    oidc_config: { issuer: provider.issuer, audience: AUDIENCE },
    token_exchange_config: {
      token_url: `${provider.issuer}/token`,
      client_id: provider.service.id,
      client_secret: provider.service.secret,
      audience: 'https://server.example',
      ...said,
    },
    ...options.config,
  }
  const proxy = await testProxy({
    target,
    config,
    middlewares: [...(options.middlewares ?? [accepting]), tokenExchangeMiddleware(app)],
  })
  return {
    provider,
    proxy,
    seen,
    refused,
    tokenOf: name => provider.sign({ sub: name }),
    async call(token) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await post(`${proxy.origin}/mcp`, rpc('ping', 1), headers)
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    exchanges: () =>
      provider.asked.filter(({ form }) => form.get('grant_type')?.endsWith(':token-exchange')).length,
  }
}
