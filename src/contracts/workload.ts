import type { ProxyMode, Transport } from './run-config.ts'

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

/** How the last upgrade of a workload ended. */
export interface UpgradeOutcome {
  outcome: 'upgraded' | 'rolled-back'
  /** The image or package before the upgrade. */
  from: string
  /** The image or package of the candidate. */
  to: string
  at: string
  /** Why it was rolled back. */
  reason?: string
}

/** The status of a workload, as the supervisor has written it (`statuses/<name>.json`). */
export interface StatusRecord {
  status: Status
  /** The reason of the status for a user, e.g. the last error. */
  status_context?: string
  created_at: string
  updated_at: string
  /** The id of the process that hosts the proxy; 0 when none does. */
  process_id: number
  /** When the current instance, or the proxy of a remote server, was started. */
  started_at?: string
  /** Kept when the status changes. */
  last_upgrade?: UpgradeOutcome
}

/** A workload as lists show it. */
export interface Workload {
  name: string
  /** Image, package or remote URL. */
  package: string
  /** The URL for clients. */
  url: string
  port: number
  transport_type: Transport
  /** The transport between clients and the proxy. */
  proxy_mode: ProxyMode
  status: Status
  status_context?: string
  created_at: string
  started_at?: string
  labels?: Record<string, string>
  group?: string
  tools?: string[]
  remote?: boolean
  /** Whether it runs as a process of this host without a sandbox. */
  no_sandbox?: boolean
  last_upgrade?: UpgradeOutcome
}

/** The supervisor as other plugins use it. Calls carry only names; everything else is on disk. */
export interface Supervisor {
  /** Starts the supervisor if none is running, or replaces one of another build. */
  ensure(): Promise<void>
  /** Starts a workload by its run config. Resolves when its server responds; fails with the reason when it does not. */
  start(name: string): Promise<void>
  /** Stops a workload and its instance. Resolves when both have ended. */
  stop(name: string): Promise<void>
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
}
