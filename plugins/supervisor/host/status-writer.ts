import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { WorkloadStore } from '../../state/index.ts'

export interface StatusDetails {
  /** Why, for a person. */
  readonly context?: string
  /** When the instance started. */
  readonly startedAt?: Date
}

/** Writes the status of one workload. */
export type SetStatus = (status: Status, details?: StatusDetails) => Promise<void>

/** Writes the statuses of all workloads of this process, and calls `onChange` after each. */
export const createStatusWriter =
  ({
    store,
    onChange,
    proxyOf,
    digestOf,
  }: {
    store: WorkloadStore
    onChange?: (() => Promise<void>) | undefined
    /** The proxy of a workload that is hosted here. */
    proxyOf: (name: string) => Pick<WorkloadProxy, 'middlewares' | 'protocol' | 'clientProcesses'> | undefined
    /** Of the run config that it was started with (`WorkloadHostOptions.digest`). */
    digestOf: (name: string) => string | undefined
  }) =>
  async (name: string, status: Status, { context, startedAt }: StatusDetails = {}): Promise<void> => {
    const isHosted = status !== 'stopped' && status !== 'error'
    const proxy = isHosted ? proxyOf(name) : undefined
    const digest = isHosted ? digestOf(name) : undefined
    await store.statuses.write(name, {
      status,
      ...(context ? { status_context: context } : {}),
      ...(startedAt ? { started_at: startedAt.toISOString() } : {}),
      process_id: isHosted ? process.pid : 0,
      ...(proxy ? { middlewares: [...proxy.middlewares] } : {}),
      ...(proxy?.protocol ? { protocol: proxy.protocol } : {}),
      ...(proxy?.clientProcesses === undefined ? {} : { client_processes: proxy.clientProcesses }),
      ...(digest === undefined ? {} : { run_config_digest: digest }),
    })
    await onChange?.()
  }

/** Writes the status in the workload's turn, unless the signal has aborted by then. Never fails. */
export const setStatusInTurn =
  (options: {
    setStatus: SetStatus
    enqueue: (work: () => Promise<void>) => Promise<void>
    log: Log
    signal: AbortSignal
  }): SetStatus =>
  (status, details) =>
    options
      .enqueue(async () => {
        if (!options.signal.aborted) await options.setStatus(status, details)
      })
      .catch(error => options.log.error(`The status cannot be written: ${messageOf(error)}`))
