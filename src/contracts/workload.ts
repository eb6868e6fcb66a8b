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

/** How the last try to put a newer version in the place of a workload's ended. */
export interface UpgradeOutcome {
  outcome: 'upgraded' | 'rolled-back'
  /** Image or package before. */
  from: string
  /** Image or package that was tried. */
  to: string
  at: string
  /** Why it was rolled back. */
  reason?: string
}

/** What the supervisor has last written about a workload (`statuses/<name>.json`). */
export interface StatusRecord {
  status: Status
  /** Why, for a person; e.g. the last error. */
  status_context?: string
  created_at: string
  updated_at: string
  /** Process that hosts the proxy; 0 when none does. */
  process_id: number
  /** When the present instance (or remote proxy) came up. */
  started_at?: string
  /** Stays when the status changes. */
  last_upgrade?: UpgradeOutcome
}

/** A workload as lists show it. */
export interface Workload {
  name: string
  /** Image, package or remote URL. */
  package: string
  /** Where clients connect. */
  url: string
  port: number
  transport_type: Transport
  /** How clients speak to it. */
  proxy_mode: ProxyMode
  status: Status
  status_context?: string
  created_at: string
  started_at?: string
  labels?: Record<string, string>
  group?: string
  tools?: string[]
  remote?: boolean
  /** It runs as a process of this host, without a sandbox. */
  no_sandbox?: boolean
  last_upgrade?: UpgradeOutcome
}

/** The supervisor as other plugins see it: only names travel, everything else is on disk. */
export interface Supervisor {
  /** Starts the supervisor if none answers, or replaces one of another build. */
  ensure(): Promise<void>
  /** Brings a workload up as its run config says. Resolves when it answers; fails with the reason if it cannot. */
  start(name: string): Promise<void>
  /** Takes it down, its instance too; resolves when nothing runs any more. */
  stop(name: string): Promise<void>
  /**
   * Puts what the store's upgrade record says in the place of what serves, which goes on until then. Fails
   * with the reason when the new server does not answer; everything is as before then.
   */
  upgrade(name: string): Promise<void>
  /** Waits for an upgrade under way, and takes away what a killed one has left. */
  settleUpgrade(name: string): Promise<void>
  /** Takes it down and forgets it: instance, status, run config. */
  remove(name: string): Promise<void>
  /**
   * Hosts one workload in the calling process, the supervisor not involved, until the signal aborts or
   * it ends for good. Resolves when nothing of it runs any more; its run config stays.
   */
  foreground(name: string, options: { signal: AbortSignal; onUp: () => void }): Promise<void>
}
