import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { Plugin } from '../../src/plugin.ts'
import type { AuditRecord } from './audit-record.ts'
import { AuditVerify } from './commands/audit-verify.ts'
import { auditMiddleware, forwardedMiddleware } from './middlewares.ts'
import { auditPreparation } from './preparation.ts'
import { auditSection } from './section.ts'
import type { AuditLogs } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    auditLogs: AuditLogs
    /** The records of exchanges under way. */
    auditRecords: WeakMap<Exchange, AuditRecord>
  }
}

/** Records who asked a workload for what, and what became of it. */
const audit: Plugin = {
  name: 'audit',
  needs: ['proxy'],
  wants: ['logExports'],
  commands: [AuditVerify],
  services: {
    auditLogs: async () => (await import('./service.ts')).createAuditLogs(),
    auditRecords: () => new WeakMap(),
  },
  provides: {
    sections: [auditSection],
    preparations: [auditPreparation],
    middlewares: [auditMiddleware, forwardedMiddleware],
  },
}
export default audit
