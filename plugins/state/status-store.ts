import { join } from 'node:path'
import { type StatusRecord, statusSchema, type UpgradeOutcome } from '../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { Paths } from '../../src/paths.ts'
import { createDocumentFolder } from './document-folder.ts'

/** What a host writes about a workload; the store adds the dates. */
export type StatusChange = Omit<StatusRecord, 'created_at' | 'updated_at' | 'last_upgrade'>

/**
 * The statuses of all workloads: `<data>/statuses/<name>.json`.
 *
 * Written only by the process that hosts the workload. One that cannot be read counts as absent:
 * it is set aside with a warning.
 */
export interface StatusStore {
  read(name: string): Promise<StatusRecord | undefined>
  list(): Promise<Map<string, StatusRecord>>
  /** Keeps `created_at` and `last_upgrade`; everything else is as the change says. */
  write(name: string, change: StatusChange): Promise<void>
  /** Adds how an upgrade ended to what is there. */
  noteUpgrade(name: string, outcome: Omit<UpgradeOutcome, 'at'>): Promise<void>
  /** Notes that no process hosts the workload now; everything else stays. */
  disown(name: string): Promise<void>
  /** Idempotent. */
  remove(name: string): Promise<void>
}

/** The lines of a document are indented, so the first brace at the start of a line ends it. */
const withoutTail = (text: string): string => /^.*?\n\}/s.exec(text)?.[0] ?? text

export function createStatusStore(options: { paths: Paths; log: Log; now: () => Date }): StatusStore {
  const { paths, log, now } = options
  const documents = createDocumentFolder<StatusRecord>({
    folder: join(paths.data, 'statuses'),
    log,
    damaged: 'aside',
    parse: (text, path) => parseDocument(withoutTail(text), path, statusSchema),
  })

  async function read(name: string): Promise<StatusRecord | undefined> {
    try {
      return await documents.find(name)
    } catch (error) {
      if (!isFailure(error, 'workload_unreadable')) throw error
      log.warn(messageOf(error), { workload: name })
      return undefined
    }
  }

  return {
    read,
    list: () => documents.list(),
    async write(name, { status, status_context, process_id, started_at, ...proxy }) {
      const at = now().toISOString()
      const before = await read(name)
      await documents.save(name, {
        status,
        ...(status_context ? { status_context } : {}),
        created_at: before?.created_at ?? at,
        updated_at: at,
        process_id,
        ...(started_at === undefined ? {} : { started_at }),
        ...(proxy.middlewares === undefined ? {} : { middlewares: proxy.middlewares }),
        ...(proxy.protocol === undefined ? {} : { protocol: proxy.protocol }),
        ...(proxy.client_processes === undefined ? {} : { client_processes: proxy.client_processes }),
        ...(proxy.run_config_digest === undefined ? {} : { run_config_digest: proxy.run_config_digest }),
        ...(before?.last_upgrade ? { last_upgrade: before.last_upgrade } : {}),
      })
    },
    async noteUpgrade(name, outcome) {
      const record = await read(name)
      if (!record) return
      await documents.save(name, { ...record, last_upgrade: { ...outcome, at: now().toISOString() } })
    },
    async disown(name) {
      const record = await read(name)
      if (record) await documents.save(name, { ...record, process_id: 0 })
    },
    remove: name => documents.remove(name),
  }
}
