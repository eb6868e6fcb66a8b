import { join } from 'node:path'
import * as t from 'typanion'
import { parseRunConfig, type RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { Paths } from '../../src/paths.ts'
import { createDocumentFolder } from './document-folder.ts'

/**
 * An upgrade under way. Written before anything is made for it, so that after a kill the next process knows
 * which two instances there may be. The one that the workload's run config names is the one to keep.
 */
export interface UpgradeRecord {
  /** The run config of the running server. */
  readonly from: RunConfig
  /** The run config of the candidate. */
  readonly to: RunConfig
  /** How long the candidate may take to respond, in milliseconds. */
  readonly wait_ms: number
}

/** Upgrades under way, by workload: `<state>/upgrades/<name>.json`. */
export interface UpgradeRecords {
  find(name: string): Promise<UpgradeRecord | undefined>
  /** Names of the workloads that have one. */
  names(): Promise<string[]>
  save(name: string, record: UpgradeRecord): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
}

const schema = t.isObject({ from: t.isUnknown(), to: t.isUnknown(), wait_ms: t.isNumber() })

export function createUpgradeRecords({ paths, log }: { paths: Paths; log: Log }): UpgradeRecords {
  const documents = createDocumentFolder<UpgradeRecord>({
    folder: join(paths.state, 'upgrades'),
    log,
    parse(text, path) {
      const { from, to, wait_ms } = parseDocument(text, path, schema)
      const read = (config: unknown) => parseRunConfig(JSON.stringify(config), path)
      return { from: read(from), to: read(to), wait_ms }
    },
  })
  return {
    find: name => documents.find(name),
    names: async () => [...(await documents.list()).keys()],
    save: (name, record) => documents.save(name, record),
    remove: name => documents.remove(name),
  }
}
