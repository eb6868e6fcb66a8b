import type { RunConfig } from './run-config.ts'

/**
 * What plugins may listen to (`provides.hooks`). `App.notify` calls the listeners of all plugins at the
 * same time and resolves when the last has ended. A listener that fails costs a warning in the log: it
 * stops neither the other listeners nor whoever notifies.
 */
export interface Hooks {
  /**
   * The process that hosts workloads wrote the status of one, or has finished to take over the workloads
   * of an earlier host. The next step of that workload waits for the listeners, so keep this short.
   */
  workloadsChanged?(): Promise<void>
  /** A workload was removed; its run config, which this was, is gone. */
  workloadRemoved?(config: RunConfig): Promise<void>
  /** A group was removed; its workloads are in the group `default` or gone, its file is gone. */
  groupRemoved?(group: string): Promise<void>
  /** Callers of proxies must send another token from now on, or none any more. */
  callerTokenChanged?(): Promise<void>
}
