import type { RequestListener, Server } from 'node:http'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'

const BODY_BYTES = 1_048_576
const BYTES = 'application/octet-stream'

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** Bodies are checked by us (docs/decisions/http-host.md): fastify's compilers take long to load. */
const NO_COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => (value: unknown) => String(JSON.stringify(value)),
} as unknown as Compilers

/** A fastify server on a listener that already listens; it gets its requests by `handler`. */
export function createFastifyServer(options: {
  listener: Server
  /** Responds to what fastify refuses before any hook has run. */
  onFrameworkError: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void
}): { server: FastifyInstance; handler: () => RequestListener } {
  let handler: RequestListener = () => undefined
  const server = fastify({
    logger: false,
    serverFactory(route) {
      handler = route
      return options.listener
    },
    bodyLimit: BODY_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false },
    schemaController: { compilersFactory: NO_COMPILERS },
    frameworkErrors: (error, request, reply) =>
      options.onFrameworkError(error, request, reply as FastifyReply),
  })
  // Bodies stay bytes: the operation decides what they are, whatever the Content-Type says.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.addHook('preParsing', async request => {
    if (request.method !== 'GET') request.raw.headers['content-type'] = BYTES
  })
  return { server, handler: () => handler }
}
