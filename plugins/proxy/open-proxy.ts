import { clientUrl } from '../../src/client-url.ts'
import type * as contract from '../../src/contracts/pipeline.ts'
import {
  type AccessProblem,
  type Exchange,
  type Handler,
  type Middleware,
  type MiddlewareContext,
  STAGES,
  type Stage,
} from '../../src/contracts/pipeline.ts'
import type { Callers } from '../../src/http/callers.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { createAvailability, untilAvailable, type WaitLimits } from './availability.ts'
import { closeProxy } from './close-proxy.ts'
import { composePipeline, toOrder, toSteps } from './compose-pipeline.ts'
import type { ExchangeParts } from './exchange.ts'
import type { FairShare } from './fair-share.ts'
import { forwardTo } from './forward-to.ts'
import { createForwarder, type ForwarderOptions } from './forwarder.ts'
import { createGuard } from './guard.ts'
import { warnOfUnnamedHosts } from './host-check.ts'
import { isOverSse } from './http-sse.ts'
import { createInFlight } from './in-flight.ts'
import { createListener, type ListenerLimits, listen } from './listener.ts'
import { createLocalConnections } from './local-connections.ts'
import { type MiddlewareSource, makeMiddlewares, type PlacedMiddleware } from './make-middlewares.ts'
import { createMethodCheck } from './method-check.ts'
import { createAskWithin } from './own/ask-within.ts'
import { listOwnTools } from './own/own-lists.ts'
import { toRequestListener } from './request-listener.ts'
import { unavailable } from './request-refusal.ts'
import { composeRewrites, toRewriters } from './rewrite/compose-rewrites.ts'
import { createSeal } from './seal.ts'
import { maxBodyOf } from './section.ts'
import { createWellKnownPaths } from './well-known-paths.ts'

export interface ProxyOptions extends Omit<ForwarderOptions, 'availability' | 'rules'> {
  middlewares: readonly MiddlewareSource[]
  onAccess?: ((problem: AccessProblem | undefined) => void) | undefined
  onMiddlewares?: (() => void) | undefined
  limits: ListenerLimits
  /** Tells who calls. */
  callers: Callers
  /** As of `ReadRules`. */
  bodies?: FairShare
  wait: WaitLimits
}

/** A proxy as its service sees it. */
export interface OpenProxy extends contract.Proxy, contract.LocalProxy {
  /** Forgets idle sessions. */
  sweep(): void
}

const DEFAULT_GRACE_MS = 5000

/** Stages that a request within another one does not pass: they have let the outer one in, or made this one. */
const NOT_NESTED: ReadonlySet<Stage> = new Set(['guard', 'well-known', 'method', 'authenticate', 'present'])

/**
 * Listener, pipeline and backend of one workload, put together.
 *
 * It is long because it does nothing but make the parts of a proxy and join them.
 */
export async function openProxy(options: ProxyOptions): Promise<OpenProxy> {
  const { config, log, callers } = options
  const host = config.host ?? '127.0.0.1'
  const rules = {
    // Middlewares of added plugins may take a batch for no message at all.
    refuseBatches: options.middlewares.some(({ isAdded }) => isAdded),
    maxBytes: maxBodyOf(config),
  }
  const parts: ExchangeParts = {
    ...rules,
    bodies: options.bodies,
    trust_proxy_headers: config.trust_proxy_headers,
    respond: (exchange, text) => forwarder.respond(exchange, text),
  }
  const availability = createAvailability(options.wait)
  const inFlight = createInFlight()
  let pipeline: Handler | undefined
  let nestedPipeline: Handler = enter
  let closing: Promise<void> | undefined
  let access: AccessProblem | undefined
  let contributed: readonly Middleware[] = []
  let rewriters: readonly Middleware[] = []
  let ordered: readonly PlacedMiddleware[] = []

  function setAccess(problem: AccessProblem | undefined): void {
    if (problem?.status === access?.status && problem?.reason === access?.reason) return
    access = problem
    if (!closing) options.onAccess?.(problem)
  }

  const handleWith = (handler: Handler) => toRequestListener(handler, { parts, inFlight, log })
  const server = createListener(options.limits, { callers, rules }, handleWith(enter))

  callers.watch(server, { local: isLoopback(host) })
  const local = createLocalConnections(handleWith(enterLocal))
  let hasLogin = true

  /** Where the proxy has a login of its own, only that says who calls. */
  function enterLocal(exchange: Exchange): void | Promise<void> {
    if (!hasLogin) exchange.caller = local.callerOf(exchange.request)
    return enter(exchange)
  }

  function enter(exchange: Exchange): void | Promise<void> {
    if (closing) {
      exchange.response.shouldKeepAlive = false
      throw unavailable('The proxy is closing')
    }
    if (!pipeline) throw unavailable('The proxy is starting')
    return pipeline(exchange)
  }

  const port = await listen(server, { host, port: config.port })
  server.on('error', error => log.error('the listener failed', { error: error.message }))

  const onRefused = () => {
    for (const middleware of contributed) middleware.probeRefused?.()
  }
  const forwarder = await createForwarder({ ...options, availability, rules, onRefused })
  const closeNow = (graceMs: number) =>
    closeProxy({ server, local, inFlight, forwarder, middlewares: contributed }, graceMs)
  try {
    const listener = { host, port }
    const rewrites = composeRewrites(() => rewriters, {
      log,
      passesStreams: config.transport !== 'stdio',
    })
    const context: MiddlewareContext = {
      log,
      setAccess,
      listTools: given =>
        listOwnTools({ config, askOwn: forwarder.askOwn, listener: handleWith(ownPipeline) }, given),
      askWithin: createAskWithin({
        pipeline: exchange => nestedPipeline(exchange),
        toListener: handleWith,
        isOverSse: exchange => isOverSse(config, exchange),
      }),
      resultsChanged(notification) {
        rewrites.changed(notification)
        forwarder.notify(notification)
        if (!closing) options.onMiddlewares?.()
      },
    }
    const made = await makeMiddlewares(options.middlewares, make => make(config, listener, context))
    contributed = made.map(({ middleware }) => middleware)
    rewriters = toRewriters(contributed)
    const guardOptions = toGuardOptions(made, {
      problemOf: request => (local.has(request) ? undefined : callers.problemOf(request)),
    })
    hasLogin = guardOptions.callers === undefined
    ordered = toOrder([
      own(createGuard(config, listener, { ...guardOptions, rules })),
      own(createSeal({ isJudged: contributed.some(({ stage }) => stage === 'authorize') })),
      ...made,
      own(createWellKnownPaths({ transport: config.transport, health: forwarder.health })),
      ...(config.transport === 'sse' ? [] : [own(createMethodCheck(config))]),
    ])
    const ownPipeline = composePipeline(
      ordered.filter(({ middleware }) => STAGES.indexOf(middleware.stage) >= STAGES.indexOf('credentials')),
      async exchange => {
        await untilAvailable(availability, exchange)
        await forwarder.handle(exchange, undefined)
      },
    )
    const toServer = forwardTo(forwarder, { availability, rewrites })
    nestedPipeline = composePipeline(
      ordered.filter(({ middleware: { stage } }) => !NOT_NESTED.has(stage)),
      toServer,
    )
    pipeline = composePipeline(ordered, toServer)
    warnOfUnnamedHosts(config, log)
  } catch (error) {
    await closeNow(0)
    throw error
  }

  return {
    port,
    url: clientUrl(config, port),
    get middlewares() {
      return toSteps(ordered)
    },
    get access() {
      return access
    },
    get protocol() {
      return forwarder.protocol
    },
    get clientProcesses() {
      return forwarder.clientProcesses
    },
    connect: backend => forwarder.connect(backend),
    disconnect: reason => forwarder.disconnect(reason),
    checkCandidate: (backend, options) => forwarder.checkCandidate(backend, options),
    ready: ({ timeoutMs, signal = new AbortController().signal, ping = false }) =>
      forwarder.ready({ timeoutMs, signal, ping }),
    async findProblem() {
      const { mcp } = await forwarder.health()
      return mcp?.available === false ? (mcp.error ?? 'it does not respond') : undefined
    },
    async verify(given) {
      for (const middleware of contributed) await middleware.verify?.(given)
    },
    sweep: () => forwarder.sweep(),
    accept: local.accept,
    close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      closing ??= closeNow(graceMs)
      return closing
    },
  }
}

const own = (middleware: Middleware): PlacedMiddleware => ({ middleware, plugin: 'proxy' })

/**
 * Where callers log in, that decides in place of the user who owns the connection. Added plugins do not say who is let
 * in.
 */
function toGuardOptions(made: readonly PlacedMiddleware[], callers: Pick<Callers, 'problemOf'>) {
  const trusted = made.filter(({ isAdded }) => !isAdded).map(({ middleware }) => middleware)
  return {
    callers: trusted.some(({ stage }) => stage === 'authenticate') ? undefined : callers,
    pages: trusted.flatMap(({ pages = [] }) => pages),
    origins: trusted.flatMap(({ origins = [] }) => origins),
  }
}
