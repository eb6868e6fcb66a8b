import { join } from 'node:path'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import { type Lock, tryLock } from '../../src/lib/file-lock.ts'
import { number, object, type Schema, type TypeOf } from '../../src/lib/schema.ts'
import type { Log } from '../../src/log.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { Paths } from '../../src/paths.ts'
import { createDocumentFolder } from './document-folder.ts'
import { assertWorkloadName } from './workload-name.ts'

/** `parseRunConfig` checks these. */
const runConfig: Schema<RunConfig> = {}

const schema = object({
  /** The run config of the running server. */
  from: runConfig,
  /** The run config of the candidate. */
  to: runConfig,
  /** How long the candidate may take to respond, in milliseconds. */
  wait_ms: number,
})

/**
 * An upgrade under way. Written before anything is made for it, so that after a kill the next process knows
 * which two instances there may be. The one that the workload's run config names is the one to keep.
 */
export type UpgradeRecord = Readonly<TypeOf<typeof schema>>

/** Upgrades under way, by workload: `<state>/upgrades/<name>.json`. */
export interface UpgradeRecords {
  find(name: string): Promise<UpgradeRecord | undefined>
  /** Names of the workloads that have one. */
  names(): Promise<string[]>
  save(name: string, record: UpgradeRecord): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
  /**
   * Takes the lock that a command holds from before the record until the end of the upgrade. Undefined while that
   * command runs. A record that remains when the lock is free is of a killed command: `Supervisor.settleUpgrade`
   * removes it.
   */
  tryLock(name: string): Promise<Lock | undefined>
}

export function createUpgradeRecords({ paths, log }: { paths: Paths; log: Log }): UpgradeRecords {
  const folder = join(paths.state, 'upgrades')
  const documents = createDocumentFolder<UpgradeRecord>({
    folder,
    log,
    damaged: 'aside',
    parse(text, path) {
      const { from, to, wait_ms } = parseDocument(text, path, schema)
      const read = (config: RunConfig) => parseRunConfig(JSON.stringify(config), path)
      return { from: read(from), to: read(to), wait_ms }
    },
  })
  return {
    find: name => documents.find(name),
    names: async () => [...(await documents.list()).keys()],
    save: (name, record) => documents.save(name, record),
    remove: name => documents.remove(name),
    async tryLock(name) {
      assertWorkloadName(name)
      return tryLock(join(folder, `${name}.lock`))
    },
  }
}
