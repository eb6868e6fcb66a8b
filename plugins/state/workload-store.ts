import { join } from 'node:path'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { createRunConfigStore, type RunConfigStore } from './run-config-store.ts'
import { createStatusStore, type StatusStore } from './status-store.ts'
import { createUpgradeRecords, type UpgradeRecords } from './upgrade-records.ts'
import { watchDocuments } from './watch-documents.ts'
import { assertWorkloadName } from './workload-name.ts'

/** All that is on disk about workloads. */
export interface WorkloadStore {
  readonly configs: RunConfigStore
  readonly statuses: StatusStore
  readonly upgrades: UpgradeRecords
  /** Where the proxy of a workload logs to; JSON lines. The file may not be there. */
  proxyLogPath(name: string): string
  /**
   * Calls `look` when a run config or a status may have changed, by any process, never twice at a time. Returns the
   * function that ends that.
   */
  watch(look: () => Promise<void>): () => void
}

export function createWorkloadStore(options: { paths: Paths; log: Log; now?: () => Date }): WorkloadStore {
  const { paths, log, now = () => new Date() } = options
  return {
    configs: createRunConfigStore({ paths, log }),
    statuses: createStatusStore({ paths, log, now }),
    upgrades: createUpgradeRecords({ paths, log }),
    proxyLogPath(name) {
      assertWorkloadName(name)
      return join(paths.data, 'logs', `${name}.log`)
    },
    watch: look =>
      watchDocuments([join(paths.state, 'runconfigs'), join(paths.data, 'statuses')], { look, log }),
  }
}
