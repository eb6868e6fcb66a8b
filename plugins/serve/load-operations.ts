import type { Server } from 'node:http'
import type { App } from '../../src/app.ts'
import { VERSION } from '../../src/build-info.ts'
import type { Callers } from '../../src/http/callers.ts'
import type { SiteGuard } from '../../src/http/guard-sites.ts'
import { createHttpHost, type HttpHost } from '../../src/http/http-host.ts'
import { toOpenApi } from '../../src/http/open-api.ts'
import { authServerRoutes } from './auth-server-routes.ts'
import { documentRoutes } from './document-routes.ts'
import type { OpenLogin } from './login.ts'
import { pluginRoutes } from './plugin-routes.ts'
import { ownRoutes } from './routes.ts'

/** Returns all operations of the server: its own, those of the plugins, and the optional ones that were asked for. */
export async function loadOperations(
  app: App,
  options: {
    readonly listener: Server
    readonly nonce: string
    readonly guard: SiteGuard
    readonly login: OpenLogin | undefined
    readonly callers: Callers | undefined
    readonly rateLimit: number
    readonly openapi: boolean
    readonly ui: boolean
  },
): Promise<HttpHost> {
  const { listener, nonce, guard, login, callers, rateLimit: perSecond } = options
  const auth = login?.auth
  const http = createHttpHost({ log: app.log, listener, guard, auth, callers, perSecond })
  pluginRoutes(http)
  ownRoutes(http, { nonce, metadata: auth?.metadata })
  if (login?.server) authServerRoutes(http.server, login.server)
  for (const entry of app.entries.filter(candidate => candidate.routes)) {
    await (await app.plugin(entry)).routes?.(http, app)
  }
  if (options.openapi) {
    const about = { title: 'keelson', version: VERSION, login: auth !== undefined }
    documentRoutes(http, () => toOpenApi(http.operations, about))
  }
  if (options.ui) await (await import('./ui/page-routes.ts')).pageRoutes(http.server)
  return http
}
