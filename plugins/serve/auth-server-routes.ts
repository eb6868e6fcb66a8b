import type { FastifyInstance } from 'fastify'
import type { LocalAuthServer } from '../../src/contracts/caller-auth.ts'

/**
 * Hands the paths of the authorization server to it, without a login and with the body unread. What stands in front may
 * leave the path of the issuer in.
 */
export function authServerRoutes(server: FastifyInstance, { issuer, respond }: LocalAuthServer): void {
  const prefix = new URL(issuer.issuer).pathname.replace(/\/$/, '')
  for (const base of new Set(['', prefix])) {
    for (const path of ['/oauth/*', '/.well-known/*']) {
      server.route({
        method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url: `${base}${path}`,
        config: { open: true },
        async onRequest({ raw }, reply) {
          const responding = respond(raw, reply.raw)
          if (!responding) return
          await responding
          reply.hijack()
        },
        handler: (_, reply) => reply.callNotFound(),
      })
    }
  }
}
