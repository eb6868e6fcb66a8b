import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { failures } from './failures.ts'
import { readAuditFile } from './read-audit-file.ts'
import { auditOf } from './section.ts'
import { settingsOf } from './settings.ts'

/** Puts the audit configuration of a file into the run config, and fails now where nothing could be written later. */
export const auditPreparation = (app: App): Preparation => ({
  async complete(config, { options }) {
    const completed = await withFile(config, options)
    const settings = settingsOf(completed, app.paths)
    if (!settings) return completed
    const { checkDestinations } = await import('./destinations.ts')
    await checkDestinations(settings, await app.service('auditLogs'))
    return completed
  },
})

/**
 * A run config of a file may be a stranger's: what is appended to which file is for the person to say. Fails with
 * `audit_file_unconfirmed`.
 */
async function withFile(config: RunConfig, options: RunOptions): Promise<RunConfig> {
  const { audit_config_path: path, ...rest } = config
  if (options['from-config'] === undefined && !path) return config
  const typed = options['audit-config']
  if (typed !== undefined) return { ...rest, audit_config: await readAuditFile(typed) }
  if (path) throw failures.audit_file_unconfirmed({ path, member: 'audit_config_path' })
  const { logFile, syslog } = auditOf(config) ?? {}
  if (logFile) throw failures.audit_file_unconfirmed({ path: logFile, member: 'logFile' })
  if (syslog) throw failures.audit_syslog_unconfirmed({ address: syslog })
  return rest
}
