import { clientUrl, effectiveMode } from '../../src/client-url.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Status, StatusRecord, Workload } from '../../src/contracts/workload.ts'
import type { Failure } from '../../src/errors.ts'
import { maskQuery } from '../../src/lib/mask-query.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'

/** Statuses of a workload that somebody should be hosting. */
const HOSTED: ReadonlySet<Status> = new Set([
  'running',
  'starting',
  'unhealthy',
  'auth_retrying',
  'unauthenticated',
])

/** Whether a process runs. */
export type Runs = (pid: number) => boolean

const runsNow: Runs = pid => processIdentity(pid) !== undefined

/** Looks once for each process: most workloads have the same host. */
export function lookOnce(): Runs {
  const seen = new Map<number, boolean>()
  return pid => {
    const runs = seen.get(pid) ?? runsNow(pid)
    seen.set(pid, runs)
    return runs
  }
}

/** Whether the status claims a host that is gone, e.g. killed. Nothing is repaired here. */
export const isOrphaned = (record: StatusRecord | undefined, runs: Runs = runsNow): boolean =>
  record !== undefined && HOSTED.has(record.status) && !runs(record.process_id)

/** Whether a host was killed while it took the workload down; the next supervisor finishes that. */
export const isHalfDown = ({ status, process_id }: StatusRecord, runs: Runs = runsNow): boolean =>
  (status === 'stopping' || status === 'removing') && !runs(process_id)

/** What was asked to be run; the query of a URL may hold an API key. */
const packageOf = ({ source, image, remote_url: url }: RunConfig): string =>
  url === undefined ? (source ?? image ?? '') : maskQuery(source ?? url)

/** What lists show of a workload: its run config, and its status as far as it can still be true. */
export function toWorkload(
  config: RunConfig,
  record: StatusRecord | undefined,
  runs: Runs = runsNow,
): Workload {
  const orphaned = isOrphaned(record, runs)
  const context = orphaned ? 'its proxy does not run' : record?.status_context
  return {
    name: config.name,
    package: packageOf(config),
    url: clientUrl(config),
    port: config.port,
    transport_type: config.transport,
    proxy_mode: effectiveMode(config),
    status: orphaned ? 'unhealthy' : (record?.status ?? 'stopped'),
    ...(context ? { status_context: context } : {}),
    created_at: record?.created_at ?? '',
    ...(record?.started_at ? { started_at: record.started_at } : {}),
    ...(config.container_labels ? { labels: config.container_labels } : {}),
    ...(config.group ? { group: config.group } : {}),
    ...(config.remote_url ? { remote: true } : {}),
    ...(config.no_sandbox ? { no_sandbox: true } : {}),
    ...(record?.last_upgrade ? { last_upgrade: record.last_upgrade } : {}),
  }
}

/** A workload whose run config cannot be read: all that is known is its name, and what is wrong. */
export const toDamaged = (name: string, problem: Failure): Workload => ({
  name,
  package: '',
  url: '',
  port: 0,
  transport_type: 'stdio',
  proxy_mode: 'streamable-http',
  status: 'error',
  status_context: `${problem.message.replace(/\.?$/, '.')} ${problem.hint ?? ''}`.trim(),
  created_at: '',
})

/** One workload with what lists leave out: its middlewares, the eras that its server speaks, its processes. */
export function toDetailedWorkload(config: RunConfig, record: StatusRecord | undefined): Workload {
  const { middlewares, protocol, client_processes } = isOrphaned(record) ? {} : (record ?? {})
  return {
    ...toWorkload(config, record),
    ...(middlewares ? { middlewares } : {}),
    ...(protocol ? { protocol } : {}),
    ...(client_processes === undefined ? {} : { client_processes }),
  }
}

export interface ListFilter {
  /** Also those that do not run. */
  readonly all?: boolean
  readonly group?: string | undefined
  /** All of these labels must match. */
  readonly labels?: readonly (readonly [key: string, value: string])[]
}

/** Whether a workload passes the filter. Without `all`, all but those that somebody has stopped. */
export function matches(workload: Workload, { all, group, labels = [] }: ListFilter): boolean {
  if (!all && workload.status === 'stopped') return false
  if (group !== undefined && workload.group !== group) return false
  return labels.every(([key, value]) => workload.labels?.[key] === value)
}
