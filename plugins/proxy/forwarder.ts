import type { Dispatcher } from 'undici'
import type { Backend, Candidate, Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Protocol } from '../../src/contracts/workload.ts'
import type { Log } from '../../src/log.ts'
import type { Availability } from './availability.ts'
import { createHealthCheck } from './backends/check-health.ts'
import { createHttpBackend } from './backends/http-backend.ts'
import { createTargetPath } from './backends/target-path.ts'
import { waitUntilReady } from './backends/wait-until-ready.ts'
import type { Opening } from './backends/watch-attempt.ts'
import type { Health } from './health.ts'
import { createHttpEras } from './http-eras.ts'
import { createHttpSessions } from './http-sessions.ts'
import { createLegacyServers } from './legacy-servers.ts'
import { isModernRequest } from './modern-request.ts'
import { createOlderClients } from './older-clients.ts'
import type { AskOwn } from './own/list-tools.ts'
import { absoluteBase } from './public-base.ts'
import type { BodyRules } from './request-body.ts'
import type { Rewriting } from './rewrite/rewriting.ts'
import { effectiveMode, sessionTtlOf } from './section.ts'

/** The innermost part of a proxy: forwards requests to the server. One kind for HTTP, one for stdio. */
export interface Forwarder {
  readonly handle: (exchange: Exchange, rewriting: Rewriting | undefined) => void | Promise<void>
  /** Responds to a message in place of the server: over HTTP+SSE on the event stream of its client. */
  respond(exchange: Exchange, text: string): void
  /** Sends requests of the proxy itself; undefined for an HTTP server, which needs credentials for them. */
  readonly askOwn: AskOwn | undefined
  /** Sends a notification to the clients whose sessions the proxy keeps. */
  notify(text: string): void
  /** As `Proxy.protocol`. */
  readonly protocol: Protocol | undefined
  /** As `Proxy.clientProcesses`. */
  readonly clientProcesses: number | undefined
  readonly health: () => Promise<Health>
  connect(backend: Backend): Promise<void>
  disconnect(reason: string): void
  checkCandidate(backend: Backend, options: { timeoutMs: number; signal: AbortSignal }): Promise<Candidate>
  ready(options: { timeoutMs: number; signal: AbortSignal; ping: boolean }): Promise<void>
  sweep(): void
  close(): Promise<void>
}

export interface ForwarderOptions {
  config: RunConfig
  log: Log
  /** Makes the HTTP client when it is first asked for; for a stdio server it never is. */
  agent: () => Dispatcher
  /** Set by the forwarder as servers come and go. */
  availability: Availability
  headersTimeoutMs: number
  rules: BodyRules
  /** Called when `protocol` has changed. */
  onProtocol?: (() => void) | undefined
  /** Called when `clientProcesses` has changed. */
  onProcesses?: (() => void) | undefined
  /** As of `probe`. */
  onRefused?: (() => void) | undefined
}

/** The era that a new server lacks, by the result of its check. */
const LOST_ERA = { initialized: 'stateless', modern: 'legacy', unknown: undefined } as const

export const createForwarder = (options: ForwarderOptions): Promise<Forwarder> | Forwarder =>
  options.config.transport === 'stdio' ? createStdioForwarder(options) : createHttpForwarder(options)

const wrongKind = (config: RunConfig, kind: string) =>
  new Error(`${config.name} speaks ${config.transport}; a backend of kind ${kind} cannot serve it`)

async function createStdioForwarder({
  config,
  log,
  availability,
  headersTimeoutMs,
  onProtocol = () => {},
  onProcesses = () => {},
}: ForwarderOptions): Promise<Forwarder> {
  const { createBridge } = await import('./bridge/index.ts')
  const bridge = createBridge({
    config,
    log,
    sessionTtlMs: sessionTtlOf(config),
    publicBase: request => absoluteBase(request, config),
    availability,
    limits: { requestTimeoutMs: headersTimeoutMs },
    onProtocol,
    onProcesses,
  })
  return {
    handle: (exchange, rewriting) => bridge.handle(exchange, rewriting),
    respond: (exchange, text) => bridge.respond(exchange, text),
    askOwn: bridge.askOwn,
    notify: text => bridge.notify(text),
    get protocol() {
      return bridge.protocol
    },
    get clientProcesses() {
      return bridge.processes?.clients
    },
    async health() {
      const { status, error } = bridge.health()
      const problem = availability.problem ?? error
      const { processes } = bridge
      return {
        status: availability.problem === undefined ? status : 'unhealthy',
        ...(processes ? { client_processes: processes.clients } : {}),
        mcp: {
          available: status !== 'unhealthy' && availability.problem === undefined,
          ...(problem === undefined ? {} : { error: problem }),
          last_checked: new Date().toISOString(),
        },
      }
    },
    async connect(backend) {
      if (backend.kind !== 'stdio') throw wrongKind(config, backend.kind)
      await bridge.connect(backend.attachment, backend)
    },
    disconnect: reason => bridge.disconnect(reason),
    async checkCandidate(backend, options) {
      if (backend.kind !== 'stdio') throw wrongKind(config, backend.kind)
      return bridge.checkCandidate(backend.attachment, { ...options, spawn: backend.spawn })
    },
    ready: options => bridge.ready(options),
    sweep: () => bridge.sweep(),
    close: () => bridge.close(),
  }
}

function createHttpForwarder(options: ForwarderOptions): Forwarder {
  const { config, availability, onProtocol = () => {}, onRefused = () => {} } = options
  const agent = options.agent()
  const sessions = createHttpSessions({ ttlMs: sessionTtlOf(config) })
  const backend = createHttpBackend({ ...options, agent, sessions, remote: config.remote_url !== undefined })
  const target = () => backend.target
  const eras = createHttpEras(config, onProtocol)
  const parts = { ...options, agent, remote: config.remote_url !== undefined, target, eras }
  const legacy = createLegacyServers(parts)
  const older = createOlderClients(parts)
  return {
    handle(exchange, rewriting) {
      const pass = (opening?: Opening) => backend.handle(exchange, rewriting, opening)
      if (isModernRequest(exchange.request)) return legacy.handle(exchange, rewriting, () => pass())
      return older.mayTake(exchange) ? older.handle(exchange, rewriting, pass) : pass()
    },
    respond(exchange, text) {
      if (!older.respond(exchange, text)) backend.respond(exchange, text)
    },
    askOwn: undefined,
    notify(text) {
      legacy.notify(text)
      older.notify(text)
    },
    get protocol() {
      return eras.protocol
    },
    clientProcesses: undefined,
    health: createHealthCheck({
      agent,
      target,
      reason: () => availability.problem,
      stateless: config.stateless === true && effectiveMode(config) === 'streamable-http',
    }),
    async connect(next) {
      if (next.kind !== 'http') throw wrongKind(config, next.kind)
      backend.connect(next.target)
      eras.forget()
      older.connect()
      availability.setAvailable()
    },
    disconnect(reason) {
      availability.setUnavailable(reason)
      backend.disconnect(reason)
      legacy.close()
      older.disconnect(reason)
    },
    async checkCandidate(next, options) {
      if (next.kind !== 'http') throw wrongKind(config, next.kind)
      const { checkHttpCandidate } = await import('./backends/check-http-candidate.ts')
      const target = createTargetPath(next.target, config, next)
      const kind = await checkHttpCandidate({ agent, config, target, ...options })
      return {
        async promote(patience) {
          const drained = [
            backend.replace(next.target, patience),
            legacy.replace(patience),
            older.replace(patience, LOST_ERA[kind]),
          ]
          eras.forget()
          availability.setAvailable()
          await Promise.all(drained)
        },
        discard() {},
      }
    },
    ready: ({ timeoutMs, signal }) => waitUntilReady({ agent, config, target, onRefused, timeoutMs, signal }),
    sweep() {
      sessions.sweep()
      legacy.sweep()
    },
    async close() {
      availability.close('the proxy is closing')
      legacy.close()
      older.close('the proxy is closing')
      backend.disconnect('the proxy is closing')
    },
  }
}
