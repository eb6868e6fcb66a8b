import type { LogExport } from '../../src/contracts/log-export.ts'
import type { Log } from '../../src/log.ts'
import { toLine } from './event-line.ts'
import type { AuditLog, AuditLogs } from './service.ts'
import type { AuditSettings } from './settings.ts'
import { checkSyslog, openSyslog } from './syslog.ts'

type Places = Pick<AuditSettings, 'file' | 'syslog'>

/** Fails with `audit_log_unwritable`, `audit_log_shared` or `audit_syslog_unavailable` where nothing could be written. */
export async function checkDestinations({ file, syslog }: Places, logs: AuditLogs): Promise<void> {
  if (file) await logs.check(file)
  if (syslog !== undefined) await checkSyslog(syslog)
}

/**
 * Opens all places where the events of one workload go. An event is written when all of them have it, whether or not
 * a collector (`otlp`) gets it.
 */
export async function openDestinations(
  { file, syslog }: Places,
  { logs, log, otlp }: { logs: AuditLogs; log: Log; otlp: LogExport | undefined },
): Promise<AuditLog> {
  const open = [
    ...(file ? [await logs.open(file, log)] : []),
    ...(syslog === undefined ? [] : [openSyslog(syslog, log)]),
  ]
  return {
    write(event) {
      otlp?.emit('audit_event', toLine(event), labelsOf(event))
      return open.map(one => one.write(event)).find(problem => problem !== undefined)
    },
    close() {
      for (const one of open) one.close()
    },
  }
}

/** By which logs are searched. */
function labelsOf(event: object): Record<string, string> {
  const { type, outcome, component, audit_id: id }: Readonly<Record<string, unknown>> = { ...event }
  return Object.fromEntries(
    Object.entries({ type, outcome, component, id }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[`audit.${name}`, value]] : [],
    ),
  )
}
