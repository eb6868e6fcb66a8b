import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import type { AuthServerConfig } from './section.ts'
import { nameOf } from './upstream/upstream-config.ts'

/** Serves the endpoints of a workload's authorization server, which callers reach without a login. */
export const authServerMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, listener) => {
    const { embedded_auth_server_config: section } = config
    if (!section) return undefined
    const [servers, { sendReply }] = await Promise.all([
      app.service('authServers'),
      import('./protocol/reply.ts'),
    ])
    const server = await servers.open({ ...config, port: listener.port })
    return {
      name: 'auth-server',
      stage: 'well-known',
      summary: describe(section),
      pages: server.pages,
      wrap: next => exchange => {
        const { request, response } = exchange
        const reply = server.respond(exchange)
        return reply ? reply.then(made => sendReply(request, response, made)) : next(exchange)
      },
      close: () => void server.close(),
    }
  }

const describe = ({ upstreams }: AuthServerConfig): string =>
  `people log in at ${upstreams.map(one => one.oidc_config?.issuer_url ?? nameOf(one)).join(', ')}`
