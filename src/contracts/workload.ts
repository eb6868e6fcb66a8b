import {
  bool,
  closed,
  integer,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
  textMap,
  texts,
  time,
} from '../lib/schema.ts'
import { PROXY_MODES, TRANSPORTS } from './run-config.ts'

export const STATUSES = [
  'running',
  'stopped',
  'error',
  'starting',
  'stopping',
  'unhealthy',
  'removing',
  'unknown',
  'unauthenticated',
  'auth_retrying',
  'policy_stopped',
] as const
export type Status = (typeof STATUSES)[number]

/**
 * The eras of MCP that a server speaks: `legacy` has `initialize` (2024-11-05 to 2025-11-25), `stateless` describes the
 * client in each request (2026-07-28).
 */
export const PROTOCOLS = ['legacy', 'stateless', 'both'] as const
export type Protocol = (typeof PROTOCOLS)[number]

const upgradeOutcome = object(
  {
    outcome: oneOf(['upgraded', 'rolled-back']),
    /** The image or package before the upgrade. */
    from: text,
    /** The image or package of the candidate. */
    to: text,
    at: time,
    /** Why it was rolled back. */
    reason: optional(text),
  },
  closed,
)

/** How the last upgrade of a workload ended. */
export type UpgradeOutcome = TypeOf<typeof upgradeOutcome>

const pipelineMiddleware = object(
  {
    /** One of `STAGES`. */
    stage: text,
    /** Of the middleware. */
    name: text,
    /** What it does here, for the user. */
    description: optional(text),
    /** The plugin that it comes from. */
    plugin: text,
    /** Whether the user has added that plugin. */
    added: optional(bool),
  },
  closed,
)

/** A middleware of a workload, as the user sees it. */
export type PipelineMiddleware = TypeOf<typeof pipelineMiddleware>

/** The status of a workload, as the supervisor has written it (`statuses/<name>.json`). */
export const statusSchema = object({
  status: oneOf(STATUSES),
  /** The reason of the status for a user, e.g. the last error. */
  status_context: optional(text),
  created_at: time,
  updated_at: time,
  /** The id of the process that hosts the proxy; 0 when none does. */
  process_id: integer,
  /** When the current instance, or the proxy of a remote server, was started. */
  started_at: optional(time),
  /** The middlewares that requests pass, outermost first; absent while no proxy is open. */
  middlewares: optional(list(pipelineMiddleware)),
  /** As far as it is known. */
  protocol: optional(oneOf(PROTOCOLS)),
  /** How many processes serve one client each; absent where all clients share one. */
  client_processes: optional(integer),
  /** Kept when the status changes. */
  last_upgrade: optional(upgradeOutcome),
  /** Digest of the run config that the server was started with; absent while no proxy is open. */
  run_config_digest: optional(text),
})

export type StatusRecord = TypeOf<typeof statusSchema>

/** The members of a workload as lists show it. */
export const workloadMembers = {
  name: text,
  /** Image, package or remote URL. */
  package: text,
  /** The URL for clients. */
  url: text,
  port: integer,
  transport_type: oneOf(TRANSPORTS),
  /** The transport between clients and the proxy. */
  proxy_mode: oneOf(PROXY_MODES),
  status: oneOf(STATUSES),
  status_context: optional(text),
  created_at: text,
  started_at: optional(text),
  labels: optional(textMap),
  group: optional(text),
  tools: optional(texts),
  remote: optional(bool),
  /** Whether it runs as a process of this host without a sandbox. */
  no_sandbox: optional(bool),
  last_upgrade: optional(upgradeOutcome),
  middlewares: optional(list(pipelineMiddleware)),
  /** The eras of MCP that the server speaks, as far as it is known. */
  protocol: optional(oneOf(PROTOCOLS)),
  /** How many processes serve one client each; absent where all clients share one. */
  client_processes: optional(integer),
}

export interface Workload extends ObjectOf<typeof workloadMembers> {}

export interface SupervisorStatus {
  readonly pid: number
  /** The build of the program that it runs. */
  readonly build: string
  /** How many workloads it hosts. */
  readonly workloads: number
}

/** The supervisor as other plugins use it. Calls about workloads carry only names; everything else is on disk. */
export interface Supervisor {
  /** The process that is the supervisor now; undefined when none is. */
  find(): Promise<SupervisorStatus | undefined>
  /**
   * Ends the supervisor that runs, and returns it. Its workloads are not stopped; the next supervisor adopts them.
   * `goesOn`: the process goes on with other work (`serve`), and no longer hosts workloads.
   */
  end(): Promise<(SupervisorStatus & { readonly goesOn: boolean }) | undefined>
  /** Starts the supervisor if none is running, or replaces one of another build. */
  ensure(): Promise<void>
  /** Starts a workload by its run config. Resolves when its server responds; fails with the reason when it does not. */
  start(name: string): Promise<void>
  /** Stops a workload and its instance. Resolves when both have ended. */
  stop(name: string): Promise<void>
  /**
   * Stops a workload and starts it again, also when the caller, or the supervisor, is killed in between. Waits until
   * nobody holds the lock of its run config. `onSent` is called when the restart is sure to come, even if the caller is
   * killed: who holds that lock can save after it. Fails as `start` does.
   */
  restart(name: string, options?: { onSent?: () => void }): Promise<void>
  /**
   * Replaces the server of a workload by the candidate of its upgrade record. The running server receives the
   * requests until the candidate responds. Fails with the reason when it does not; then nothing has changed.
   */
  upgrade(name: string): Promise<void>
  /** Waits for an upgrade in progress, and removes what a killed upgrade has left. */
  settleUpgrade(name: string): Promise<void>
  /** Stops a workload and deletes its instance, status and run config. */
  remove(name: string): Promise<void>
  /**
   * Hosts one workload in the calling process, without the supervisor, until the signal aborts or the server
   * ends and is not restarted. Resolves when the workload has stopped; its run config stays.
   */
  foreground(name: string, options: { signal: AbortSignal; onUp: () => void }): Promise<void>
  /**
   * Calls a `SupervisorOperation` and returns its result, starting the supervisor first if need be. Without `start`
   * it returns undefined where no other process is the supervisor, or that one lacks the operation.
   */
  call(operation: string, input: unknown, options: { start: boolean }): Promise<unknown>
}
