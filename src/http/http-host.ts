import type { RequestListener, Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallerAuth } from '../contracts/caller-auth.ts'
import { isFailure, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { createAdmission } from './admit-request.ts'
import { type Api, CLIENT_HEADER, type EventSource, type FailureStyle, type Operation } from './api.ts'
import { createBackgroundWork } from './background-work.ts'
import type { Callers } from './callers.ts'
import { checkBody, checkParameters } from './check-request.ts'
import { toFailureResponse } from './failure-response.ts'
import { httpFailures } from './failures.ts'
import { createFastifyServer } from './fastify-server.ts'
import type { SiteGuard } from './guard-sites.ts'
import { followConnections } from './listener-connections.ts'
import { createMethodIndex, routesOf } from './operation-paths.ts'
import { createOperationRunner, firstOfEach } from './operation-runner.ts'
import { parseBody } from './parse-body.ts'

/** How long work behind requests may take to say on disk what it does, in milliseconds. */
const BEGIN_MS = 500

/** The HTTP host of the management API. */
export interface HttpHost extends Api {
  readonly server: FastifyInstance
  /** All operations, in the order they were added. */
  readonly operations: readonly Operation[]
  /** What requests are given to, when all operations have been added. */
  ready(): Promise<RequestListener>
  /**
   * Takes no more requests; resolves when those that run are done, or `graceMs` is over. The work behind them gets a moment
   * to begin: the next supervisor finishes it.
   */
  close(graceMs: number): Promise<void>
}

export function createHttpHost(options: {
  log: Log
  /** What is listened on; its requests come by `ready`. */
  listener: Server
  /** Throws for requests that get no response of an operation. */
  guard: SiteGuard
  /** Requests of one caller; 0: any number. */
  perSecond?: number
  /** Where callers log in; absent when no login is required. */
  auth?: CallerAuth | undefined
  /** Checks callers where no login is required; absent when every caller is accepted. */
  callers?: Callers | undefined
}): HttpHost {
  const { log, listener, perSecond = 0 } = options
  const operations: Operation[] = []
  const eventSources: EventSource[] = []
  const index = createMethodIndex()
  const ending = new AbortController()
  const background = createBackgroundWork({ log })
  const runner = createOperationRunner(ending.signal)

  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown, style: FailureStyle) =>
    sendFailure(log, { request, reply, error: readable(error), style })
  const { server, handler } = createFastifyServer({
    listener,
    onFrameworkError(error, request, reply) {
      protect(request, reply) // no hook has run
      fail(request, reply, error, request.url.startsWith('/registry/') ? 'json' : 'text')
    },
  })
  const connections = followConnections(listener)
  const admit = createAdmission({ ...options, perSecond, running: runner.running, isOpen })

  server.addHook('onRequest', async (request, reply) => {
    protect(request, reply)
    await admit(request, reply)
  })
  server.setErrorHandler((error, request, reply) => fail(request, reply, error, styleOf(request)))
  server.setNotFoundHandler((request, reply) => {
    const methods = index.methodsOf(request.url)
    if (methods.length === 0) {
      return reply.code(404).type('text/plain; charset=utf-8').send('404 page not found\n')
    }
    return reply.code(405).header('allow', methods.join(', ')).send('')
  })

  return {
    server,
    operations,
    eventSources,
    signal: ending.signal,
    events: source => void eventSources.push(source),
    operation(added) {
      const operation = added as unknown as Operation
      operations.push(operation)
      for (const url of routesOf(operation.path)) {
        index.add(operation.method, url)
        server.route({
          method: operation.method,
          url,
          config: { style: operation.style ?? 'text', open: operation.open === true },
          async preValidation(request) {
            await readParameters(operation, request)
            await operation.assertThere?.(request.params as never)
            await readBody(operation, request)
          },
          handler: (request, reply) => runner.respond(operation, request, reply),
        })
      }
    },
    background: background.start,
    async ready() {
      await server.ready()
      return handler()
    },
    async close(graceMs) {
      ending.abort()
      const timeout = AbortSignal.timeout(graceMs)
      const over = new Promise<void>(resolve => timeout.addEventListener('abort', () => resolve()))
      const also = () => server.close().then(undefined, error => log.warn(messageOf(error)))
      await connections.close({ also, over })
      await Promise.race([background.settled(), over, delay(BEGIN_MS)])
      listener.closeAllConnections()
    },
  }
}

/** Checks what stands in the path and behind it. Fails with `client_header_missing` or `parameter_invalid`. */
async function readParameters(operation: Operation, request: FastifyRequest): Promise<void> {
  const { programsOnly, path, params = {}, query = {} } = operation
  if (programsOnly && request.headers[CLIENT_HEADER.toLowerCase()] === undefined)
    throw httpFailures.client_header_missing({ path, header: CLIENT_HEADER })
  await checkParameters(params, request.params as Readonly<Record<string, string>>)
  await checkParameters(query, firstOfEach(request.query))
}

/** Parses and checks the body of a request. Fails with `body_invalid`. */
async function readBody(operation: Operation, request: FastifyRequest): Promise<void> {
  if (!operation.body) return
  const bytes = Buffer.isBuffer(request.body) ? request.body : undefined
  request.body = parseBody(bytes, { optional: operation.bodyOptional === true })
  await checkBody(operation.body, request.body)
}

function sendFailure(
  log: Log,
  {
    request,
    reply,
    error,
    style,
  }: { request: FastifyRequest; reply: FastifyReply; error: unknown; style: FailureStyle },
) {
  const { status, type, body } = toFailureResponse(error, style)
  if (status >= 500 && !request.socket.destroyed) {
    const what = `${request.method} ${request.url.split('?')[0]}`
    if (isFailure(error)) log.warn(`${what}: ${messageOf(error)}`, { status, code: error.code })
    else log.error(`${what} failed.`, { status, stack: stackOf(error) })
  }
  return reply.code(status).header('content-type', type).send(Buffer.from(body))
}

function protect(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-content-type-options', 'nosniff')
  reply.header('cross-origin-resource-policy', 'same-origin')
  if (request.url.startsWith('/api/')) reply.header('content-type', 'application/json')
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
