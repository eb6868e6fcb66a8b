import type { App } from '../../src/app.ts'
import type { AuthServerOffer } from '../../src/contracts/caller-auth.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { pagesOf } from './authorize/callback-path.ts'
import { failures } from './failures.ts'
import { openServer } from './open-server.ts'
import { sendReply } from './protocol/reply.ts'
import type { AuthServerConfig } from './section.ts'
import { apiFolder } from './server-folder.ts'
import { toSettings } from './settings.ts'
import { nameOf } from './upstream/upstream-config.ts'

/** No workload has this name. */
const NAME = '@api'

/** The authorization server in front of the management API; `caBundle` as in `ServerPlace`. */
export const createApiServer = (
  section: AuthServerConfig,
  caBundle: string | undefined,
  app: Pick<App, 'paths' | 'log' | 'env'>,
): AuthServerOffer => ({
  pages: pagesOf(section.upstreams.map(upstream => ({ name: nameOf(upstream) }))),
  async open(address) {
    const url = urlOf(section, address)
    const { issuer, audiences, scopes } = toSettings(section, url)
    const server = await openServer({ name: NAME, folder: apiFolder(app.paths), url, caBundle }, section, app)
    return {
      issuer: {
        ...{ issuer, audience: audiences[0], scopes },
        keys: server.publishedKeys,
        isActive: server.isActive,
      },
      respond(request, response) {
        const gone = new AbortController()
        response.once('close', () => gone.abort())
        return server
          .respond({ request, signal: gone.signal })
          ?.then(reply => sendReply(request, response, reply))
      },
      close: server.close,
    }
  },
})

/** The URL of the API as callers know it. Beyond loopback they need one that is named. */
function urlOf({ issuer }: AuthServerConfig, address: string): string {
  if (issuer) return issuer
  const url = URL.parse(address)
  if (url?.protocol === 'http:' && isLoopback(url.hostname)) return address
  throw failures.auth_server_config_invalid({
    problem: `nobody elsewhere can log in at ${address}`,
    hint: 'Name the https URL that callers reach it by with --auth-server-issuer.',
  })
}
