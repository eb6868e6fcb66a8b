import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

const table = {
  'audit-config': flag.file('JSON file with the settings of the audit log: what it records, and where'),
  'enable-audit': flag.boolean('record every request in an audit log, with default settings'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** What is recorded of requests; the same for workloads and for the standalone proxy. */
export const auditFlags: RunFlags = {
  title: 'Audit',
  of: ['run', 'proxy'],
  flags: table,
  async apply(values: FlagValues<typeof table>, config) {
    const path = values['audit-config']
    if (path !== undefined) {
      const { readAuditFile } = await import('./read-audit-file.ts')
      config.audit_config = await readAuditFile(path)
    }
    if (values['enable-audit']) config.audit_config = { ...config.audit_config, enabled: true }
  },
}
