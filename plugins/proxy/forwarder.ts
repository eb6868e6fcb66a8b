import type { Dispatcher } from 'undici'
import type { Backend, Candidate, Handler } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { createHealthCheck } from './backends/check-health.ts'
import { createHttpBackend } from './backends/http-backend.ts'
import { createTargetPath } from './backends/target-path.ts'
import { waitUntilReady } from './backends/wait-until-ready.ts'
import type { Gate } from './gate.ts'
import type { Health } from './health.ts'
import { createSessions } from './http-sessions.ts'
import { absoluteBase } from './public-base.ts'
import type { BodyRules } from './request-body.ts'
import { effectiveMode, sessionTtlOf } from './section.ts'

/** The innermost part of a proxy: what speaks to the server. One for servers with HTTP, one for stdio. */
export interface Core {
  readonly handle: Handler
  readonly health: () => Promise<Health>
  connect(backend: Backend): Promise<void>
  disconnect(reason: string): void
  checkCandidate(backend: Backend, options: { timeoutMs: number; signal: AbortSignal }): Promise<Candidate>
  ready(options: { timeoutMs: number; signal: AbortSignal }): Promise<void>
  sweep(): void
  close(): Promise<void>
}

export interface CoreOptions {
  config: RunConfig
  log: Log
  agent: Dispatcher
  gate: Gate
  headersTimeoutMs: number
  rules: BodyRules
}

export const createCore = (options: CoreOptions): Promise<Core> | Core =>
  options.config.transport === 'stdio' ? createStdioCore(options) : createHttpCore(options)

const wrongKind = (config: RunConfig, kind: string) =>
  new Error(`${config.name} speaks ${config.transport}; a backend of kind ${kind} cannot serve it`)

async function createStdioCore({ config, log, gate, headersTimeoutMs }: CoreOptions): Promise<Core> {
  const { createBridge } = await import('./bridge/index.ts')
  const bridge = createBridge({
    config,
    log,
    sessionTtlMs: sessionTtlOf(config),
    publicBase: request => absoluteBase(request, config),
    limits: { requestTimeoutMs: headersTimeoutMs },
  })
  return {
    handle: exchange => bridge.handle(exchange),
    async health() {
      const { status, error } = bridge.health()
      const problem = gate.reason ?? error
      return {
        status: gate.reason === undefined ? status : 'unhealthy',
        mcp: {
          available: status !== 'unhealthy' && gate.reason === undefined,
          ...(problem === undefined ? {} : { error: problem }),
          last_checked: new Date().toISOString(),
        },
      }
    },
    async connect(backend) {
      if (backend.kind !== 'stdio') throw wrongKind(config, backend.kind)
      await bridge.connect(backend.attachment)
    },
    disconnect: reason => bridge.disconnect(reason),
    async checkCandidate(backend, options) {
      if (backend.kind !== 'stdio') throw wrongKind(config, backend.kind)
      return bridge.checkCandidate(backend.attachment, options)
    },
    ready: async () => {},
    sweep: () => {},
    close: () => bridge.close(),
  }
}

function createHttpCore(options: CoreOptions): Core {
  const { config, agent, gate } = options
  const sessions = createSessions({ ttlMs: sessionTtlOf(config) })
  const backend = createHttpBackend({ ...options, sessions, remote: config.remote_url !== undefined })
  const target = () => backend.target
  return {
    handle: exchange => backend.handle(exchange),
    health: createHealthCheck({
      agent,
      target,
      reason: () => gate.reason,
      stateless: config.stateless === true && effectiveMode(config) === 'streamable-http',
    }),
    async connect(next) {
      if (next.kind !== 'http') throw wrongKind(config, next.kind)
      backend.connect(next.target)
    },
    disconnect: reason => backend.disconnect(reason),
    async checkCandidate(next, options) {
      if (next.kind !== 'http') throw wrongKind(config, next.kind)
      const { checkHttpCandidate } = await import('./backends/check-http-candidate.ts')
      const target = createTargetPath(next.target, config, next.remote)
      await checkHttpCandidate({ agent, config, target, ...options })
      return {
        async promote({ graceMs, signal }) {
          await backend.replace(next.target, { graceMs, signal })
        },
        discard() {},
      }
    },
    ready: ({ timeoutMs, signal }) => waitUntilReady({ agent, config, target, timeoutMs, signal }),
    sweep: () => sessions.sweep(),
    close: async () => backend.disconnect('the proxy is closing'),
  }
}
