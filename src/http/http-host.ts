import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { CallerAuth } from '../contracts/caller-auth.ts'
import { isFailure, messageOf } from '../errors.ts'
import { printableJson } from '../lib/printable.ts'
import type { Log } from '../log.ts'
import { type Api, CLIENT_HEADER, type EventSource, type FailureStyle, type Operation } from './api.ts'
import type { Callers } from './callers.ts'
import { checkBody } from './check-body.ts'
import { toFailureResponse } from './failure-response.ts'
import { httpFailures } from './failures.ts'
import type { Guard } from './guard-callers.ts'
import { createMethodIndex, routesOf } from './operation-paths.ts'
import { parseBody } from './parse-body.ts'
import { callerOf, createRateLimit } from './rate-limit.ts'

export const BODY_BYTES = 1_048_576
const BYTES = 'application/octet-stream'
const HTML = 'text/html; charset=utf-8'
const DEADLINE_SECONDS = 60
const SLOW_DEADLINE_SECONDS = 660
const LAST_WORDS_MS = 500
const SWEEP_MS = 100
/** More requests than this being answered at a time are refused: each may hold a body and start work. */
const MOST_AT_A_TIME = 512

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** Bodies are checked by us; what fastify would compile schemas with is much, and takes long to load. */
const NO_COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => (value: unknown) => String(JSON.stringify(value)),
} as unknown as Compilers

/** The HTTP host of the management API. */
export interface HttpHost extends Api {
  readonly server: FastifyInstance
  /** All operations, in the order they were added. */
  readonly operations: readonly Operation[]
  /** What requests are given to, when all operations have been added. */
  ready(): Promise<RequestListener>
  /** Takes no more requests; resolves when those that run and the work behind them are done, or `graceMs` is over. */
  close(graceMs: number): Promise<void>
}

export function createHttpHost(options: {
  log: Log
  /** What is listened on; its requests come by `ready`. */
  listener: Server
  /** Throws for requests that are not answered at all. */
  guard: Guard
  /** Requests of one caller; 0: any number. */
  perSecond?: number
  /** Where callers log in; absent: nobody has to. */
  auth?: CallerAuth | undefined
  /** Tells who calls where nobody logs in; absent: whoever connects. */
  callers?: Callers | undefined
}): HttpHost {
  const { log, listener, guard, perSecond = 0, auth, callers } = options
  const limit = createRateLimit({ perSecond, now: Date.now })
  const operations: Operation[] = []
  const eventSources: EventSource[] = []
  const index = createMethodIndex()
  const ending = new AbortController()
  const behind = new Set<Promise<void>>()
  let running = 0

  let route: RequestListener = () => undefined
  const server = fastify({
    logger: false,
    serverFactory(handler) {
      route = handler
      return listener
    },
    bodyLimit: BODY_BYTES,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false },
    schemaController: { compilersFactory: NO_COMPILERS },
    frameworkErrors(error, request, reply) {
      protect(request, reply as FastifyReply) // no hook has run
      fail(request, reply as FastifyReply, error, request.url.startsWith('/registry/') ? 'json' : 'text')
    },
  })

  /** Opened ahead, as browsers do, and without a request yet: to Node these are not idle, and would hold up the end. */
  const unused = new Set<Socket>()
  listener.on('connection', socket => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  listener.on('request', request => unused.delete(request.socket))

  /** Bytes are kept as they come: what they are is the operation's to say, whatever the Content-Type says. */
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  server.addHook('onRequest', async (request, reply) => {
    protect(request, reply)
    if (request.method !== 'GET') request.raw.headers['content-type'] = BYTES
    guard(request.raw)
    const problem = callers?.problemOf(request.raw)
    if (problem === 'stranger') throw httpFailures.caller_refused()
    if (problem === 'token' && !isOpen(request)) {
      reply.header('www-authenticate', 'Keelson-Caller-Token')
      throw httpFailures.caller_token_missing()
    }
    const seconds = limit.take(callerOf(request.socket.remoteAddress))
    if (seconds !== undefined) {
      reply.header('retry-after', String(seconds))
      throw httpFailures.rate_exceeded({ perSecond })
    }
    if (running >= MOST_AT_A_TIME) {
      reply.header('retry-after', '1')
      throw httpFailures.too_many_requests()
    }
    if (!auth || isOpen(request)) return
    const admission = await auth.admit(request.headers.authorization)
    if ('refusal' in admission) {
      const { status, headers, body } = admission.refusal
      await reply.code(status).headers(headers).send(Buffer.from(body))
    }
  })

  server.setErrorHandler((error, request, reply) => fail(request, reply, error, styleOf(request)))
  server.setNotFoundHandler((request, reply) => {
    const methods = index.methodsOf(request.url)
    if (methods.length === 0) {
      return reply.code(404).type('text/plain; charset=utf-8').send('404 page not found\n')
    }
    return reply.code(405).header('allow', methods.join(', ')).send('')
  })

  function protect(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('x-content-type-options', 'nosniff')
    reply.header('cross-origin-resource-policy', 'same-origin')
    if (request.url.startsWith('/api/')) reply.header('content-type', 'application/json')
  }

  function fail(request: FastifyRequest, reply: FastifyReply, thrown: unknown, style: FailureStyle) {
    const error = readable(thrown)
    const { status, type, body } = toFailureResponse(error, style)
    if (status >= 500 && !request.socket.destroyed) logFailure(request, status, error)
    return reply.code(status).header('content-type', type).send(Buffer.from(body))
  }

  function logFailure(request: FastifyRequest, status: number, error: unknown): void {
    const what = `${request.method} ${request.url.split('?')[0]}`
    if (isFailure(error)) log.warn(`${what}: ${messageOf(error)}`, { status, code: error.code })
    else log.error(`${what} failed.`, { status, stack: stackOf(error) })
  }

  async function answer<P extends string, B extends TSchema>(
    operation: Operation<P, B>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const [status, content] = operation.response
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    running++
    try {
      const work = (signal: AbortSignal) =>
        operation.handle({
          params: request.params as never,
          query: firstOfEach(request.query),
          body: request.body as Static<B>,
          signal: AbortSignal.any([signal, gone.signal, ...(content === 'events' ? [ending.signal] : [])]),
        })
      const value = content === 'events' ? await work(gone.signal) : await withDeadline(work, operation.slow)
      reply.code(status).headers({ ...operation.headers })
      if (operation.location) reply.header('location', operation.location(value as never))
      if (content === 'empty') return reply.send('')
      // Bytes: to the type of a text a charset would be added, and clients compare it.
      if (content === 'text')
        return reply.header('content-type', 'text/plain').send(Buffer.from(String(value)))
      if (content === 'html') return reply.header('content-type', HTML).send(Buffer.from(String(value)))
      if (content === 'events') {
        reply.header('cache-control', 'no-store')
        // Whoever does not read to the end of the stream must not hold up the end of the server.
        const cut = () => setTimeout(() => reply.raw.destroy(), LAST_WORDS_MS)
        ending.signal.addEventListener('abort', cut)
        reply.raw.once('close', () => ending.signal.removeEventListener('abort', cut))
        return reply.header('content-type', 'text/event-stream').send(value)
      }
      return reply
        .header('content-type', 'application/json')
        .send(Buffer.from(`${printableJson(JSON.stringify(value))}\n`))
    } finally {
      running--
    }
  }

  return {
    server,
    operations,
    eventSources,
    signal: ending.signal,
    events: source => void eventSources.push(source),
    operation(operation) {
      operations.push(operation as unknown as Operation)
      for (const url of routesOf(operation.path)) {
        index.add(operation.method, url)
        server.route({
          method: operation.method,
          url,
          config: { style: operation.style ?? 'text', open: operation.open === true },
          async preValidation(request) {
            if (operation.programsOnly && request.headers[CLIENT_HEADER.toLowerCase()] === undefined)
              throw httpFailures.client_header_missing({ path: operation.path, header: CLIENT_HEADER })
            if (!operation.body) return
            const bytes = Buffer.isBuffer(request.body) ? request.body : undefined
            request.body = parseBody(bytes, { optional: operation.bodyOptional === true })
            await checkBody(operation.body, request.body)
          },
          handler: (request, reply) => answer(operation, request, reply),
        })
      }
    },
    background(what, work) {
      const done = work().catch(error => {
        if (isFailure(error)) log.warn(`${what}: ${messageOf(error)}`)
        else log.error(`${what} failed.`, { stack: stackOf(error) })
      })
      const entry = done.finally(() => behind.delete(entry))
      behind.add(entry)
    },
    async ready() {
      await server.ready()
      return route
    },
    async close(graceMs) {
      ending.abort()
      const over = AbortSignal.timeout(graceMs)
      const patience = new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))
      const unheard = new Promise<void>(resolve => listener.close(() => resolve()))
      const closed = Promise.all([unheard, server.close()]).catch(error => log.warn(messageOf(error)))
      // Connections that were busy when the end began would be kept for their next request.
      const sweep = setInterval(() => {
        listener.closeIdleConnections()
        for (const socket of unused) socket.destroy()
      }, SWEEP_MS)
      await Promise.race([closed, patience])
      clearInterval(sweep)
      await Promise.race([Promise.all(behind), patience])
      listener.closeAllConnections()
    },
  }
}

/** What is known of a route; routes that are added past us have none of it. */
const configOf = (request: FastifyRequest) =>
  request.routeOptions.config as { style?: FailureStyle; open?: boolean }

const styleOf = (request: FastifyRequest): FailureStyle => configOf(request).style ?? 'text'

const isOpen = (request: FastifyRequest): boolean => configOf(request).open === true

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error))

/** What the router throws, in our words. */
function readable(error: unknown): unknown {
  if (!(error instanceof Error) || isFailure(error)) return error
  if ('code' in error && error.code === 'FST_ERR_BAD_URL') {
    return httpFailures.request_invalid({ problem: 'its path is not encoded correctly' }, { cause: error })
  }
  return error
}

const firstOfEach = (query: unknown): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries((query ?? {}) as Record<string, string | string[]>).map(([key, value]) => [
      key,
      Array.isArray(value) ? value[0] : value,
    ]),
  )

/** Fails with `deadline_passed`; the work hears of it, and how it ends then nobody sees. */
async function withDeadline(work: (signal: AbortSignal) => unknown, slow = false): Promise<unknown> {
  const seconds = slow ? SLOW_DEADLINE_SECONDS : DEADLINE_SECONDS
  const over = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    over.abort()
    reject(httpFailures.deadline_passed({ seconds }))
  }, seconds * 1000)
  try {
    const done = Promise.resolve(work(over.signal))
    done.catch(() => undefined)
    return await Promise.race([done, promise])
  } finally {
    clearTimeout(timer)
  }
}
