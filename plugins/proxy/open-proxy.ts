import type * as contract from '../../src/contracts/pipeline.ts'
import type {
  AccessProblem,
  Exchange,
  Handler,
  Middleware,
  MiddlewareFactory,
} from '../../src/contracts/pipeline.ts'
import type { Callers } from '../../src/http/callers.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { createAvailability, untilAvailable, type WaitLimits } from './availability.ts'
import { clientUrl } from './client-url.ts'
import { composePipeline } from './compose-pipeline.ts'
import { createExchange } from './exchange.ts'
import { createForwarder, type ForwarderOptions } from './forwarder.ts'
import { createGuard } from './guard.ts'
import { warnOfUnnamedHosts } from './host-check.ts'
import { createInFlight } from './in-flight.ts'
import { createListener, type ListenerLimits, listen } from './listener.ts'
import { createMethodCheck } from './method-check.ts'
import { unavailable } from './request-refusal.ts'
import { effectiveMode } from './section.ts'
import { sendRefusal } from './send-refusal.ts'
import { createWellKnownPaths } from './well-known-paths.ts'

export interface ProxyOptions extends Omit<ForwarderOptions, 'availability' | 'rules'> {
  middlewares: readonly MiddlewareFactory[]
  onAccess?: ((problem: AccessProblem | undefined) => void) | undefined
  limits: ListenerLimits
  /** Tells who calls. */
  callers: Callers
  wait: WaitLimits
}

/** A proxy as its service sees it. */
export interface OpenProxy extends contract.Proxy {
  /** Forgets idle sessions. */
  sweep(): void
}

const DEFAULT_GRACE_MS = 5000
/** Time for responses to reach clients before their connections are cut. */
const FLUSH_MS = 500

/** Listener, pipeline and backend of one workload, put together. */
export async function openProxy(options: ProxyOptions): Promise<OpenProxy> {
  const { config, log, callers } = options
  const host = config.host ?? '127.0.0.1'
  const streamable = effectiveMode(config) === 'streamable-http'
  const rules = { refuseBatches: streamable }
  const availability = createAvailability(options.wait)
  const inFlight = createInFlight()
  let pipeline: Handler | undefined
  let closing: Promise<void> | undefined
  let access: AccessProblem | undefined
  let contributed: readonly Middleware[] = []

  function setAccess(problem: AccessProblem | undefined): void {
    if (problem?.status === access?.status && problem?.reason === access?.reason) return
    access = problem
    if (!closing) options.onAccess?.(problem)
  }

  const server = createListener(options.limits, callers, (request, response) => {
    const exchange = createExchange(request, response, rules)
    inFlight.add(exchange)
    // Broken connections are seen by 'close'; without a listener they would end the process.
    response.on('error', () => {})
    try {
      const pending = enter(exchange)
      if (pending) pending.catch(error => sendRefusal(exchange, error, log))
    } catch (error) {
      sendRefusal(exchange, error, log)
    }
  })

  callers.watch(server, { local: isLoopback(host) })

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

  async function closeNow(graceMs: number): Promise<void> {
    for (const middleware of contributed) middleware.close?.()
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    server.closeIdleConnections()
    await firstOf(graceMs, inFlight.idle())
    await forwarder.close()
    server.closeIdleConnections()
    await firstOf(FLUSH_MS, closed)
    server.closeAllConnections()
    await closed
  }

  const forwarder = await createForwarder({ ...options, availability, rules })
  try {
    const listener = { host, port }
    contributed = await makeMiddlewares(options.middlewares, make =>
      make(config, listener, { log, setAccess }),
    )
    const forward: Handler = exchange =>
      availability.problem === undefined
        ? forwarder.handle(exchange)
        : untilAvailable(availability, exchange).then(() => forwarder.handle(exchange))
    pipeline = composePipeline(
      [
        createGuard(config, listener, callers),
        ...contributed,
        createWellKnownPaths({ transport: config.transport, health: forwarder.health }),
        ...(streamable ? [createMethodCheck(config)] : []),
      ],
      forward,
    )
    warnOfUnnamedHosts(config, log)
  } catch (error) {
    await closeNow(0)
    throw error
  }

  return {
    port,
    url: clientUrl(config, port),
    get access() {
      return access
    },
    connect: backend => forwarder.connect(backend),
    disconnect: reason => forwarder.disconnect(reason),
    checkCandidate: (backend, options) => forwarder.checkCandidate(backend, options),
    ready: ({ timeoutMs, signal }) =>
      forwarder.ready({ timeoutMs, signal: signal ?? new AbortController().signal }),
    sweep: () => forwarder.sweep(),
    close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      closing ??= closeNow(graceMs)
      return closing
    },
  }
}

/** Makes all of them. When one cannot be made, those that were made are closed. */
async function makeMiddlewares(
  factories: readonly MiddlewareFactory[],
  make: (factory: MiddlewareFactory) => Promise<Middleware | undefined>,
): Promise<Middleware[]> {
  const settled = await Promise.allSettled(factories.map(make))
  const made = settled.flatMap(one => (one.status === 'fulfilled' && one.value ? [one.value] : []))
  const failed = settled.find(one => one.status === 'rejected')
  if (!failed) return made
  for (const middleware of made) middleware.close?.()
  throw failed.reason
}

async function firstOf(ms: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([event, new Promise<void>(resolve => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
