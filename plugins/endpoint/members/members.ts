import type { Status, Workload } from '../../../src/contracts/workload.ts'

/** A server behind an endpoint. */
export interface Member {
  readonly name: string
  readonly url: string
  readonly mode: Workload['proxy_mode']
  /** Whether its callers have to log in. */
  readonly hasLogin: boolean
  readonly status: Status
  /** Why it does not run, for people. */
  readonly reason: string | undefined
}

/** Statuses of servers that respond, or soon will. */
const UP: ReadonlySet<Status> = new Set([
  'running',
  'starting',
  'unhealthy',
  'unauthenticated',
  'auth_retrying',
])

export const isUp = ({ status }: Pick<Member, 'status'>): boolean => UP.has(status)

/** The servers behind an endpoint, as they are now. */
export interface Members {
  /** By name; also those that do not run. */
  readonly current: readonly Member[]
  /** Calls back when a server has come, gone, or changed its status. Returns what ends that. */
  onChange(hear: () => void): () => void
}
