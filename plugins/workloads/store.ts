import { join } from 'node:path'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { createRunConfigStore, type RunConfigStore } from './store/configs.ts'
import { assertWorkloadName } from './store/name.ts'
import { createStatusStore, type StatusStore } from './store/statuses.ts'

/** All that is on disk about workloads. */
export interface WorkloadStore {
  readonly configs: RunConfigStore
  readonly statuses: StatusStore
  /** Where the proxy of a workload logs to; JSON lines. The file may not be there. */
  proxyLogPath(name: string): string
}

export function createWorkloadStore(options: { paths: Paths; log: Log; now?: () => Date }): WorkloadStore {
  const { paths, log, now = () => new Date() } = options
  return {
    configs: createRunConfigStore({ paths, log }),
    statuses: createStatusStore({ paths, log, now }),
    proxyLogPath(name) {
      assertWorkloadName(name)
      return join(paths.data, 'logs', `${name}.log`)
    },
  }
}
