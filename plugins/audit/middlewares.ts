import type { App } from '../../src/app.ts'
import type { LogExport } from '../../src/contracts/log-export.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { hasBody, refuseUnavailable } from '../proxy/index.ts'
import { failures } from './failures.ts'
import { type AuditSettings, settingsOf } from './settings.ts'

/** Paths that programs ask without end, and that never reach the server. */
const UNRECORDED = /^\/(?:health|metrics|\.well-known(?:\/.*)?)$/
const RETRY_SECONDS = 10

/** Records all that is asked of a workload, and what became of it. */
export const auditMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log }) => {
    const settings = settingsOf(config, app.paths)
    if (!settings) return undefined
    const [{ AuditRecord }, { createWorkloadAudit }, { openDestinations }, { observeResponse }] =
      await Promise.all([
        import('./audit-record.ts'),
        import('./workload-audit.ts'),
        import('./destinations.ts'),
        import('../../src/net/observe-response.ts'),
      ])
    const [logs, records] = await Promise.all([app.service('auditLogs'), app.service('auditRecords')])
    const otlp = settings.otlp ? await openOtlp(app, config, log) : undefined
    const opened = await openDestinations(settings, { logs, log, otlp })
    const audit = createWorkloadAudit(config, settings, opened)
    return {
      name: 'audit',
      stage: 'audit',
      summary: describe(settings),
      wrap: next => exchange => {
        if (UNRECORDED.test(exchange.url.split('?', 1)[0] ?? '')) return next(exchange)
        const record = new AuditRecord(audit, exchange)
        if (exchange.outer) record.outerId = records.get(exchange.outer)?.id
        records.set(exchange, record)
        // An entry whose value leads back to its key outlives every collection of young objects.
        exchange.response.once('close', () => records.delete(exchange))
        observeResponse(exchange.response, record)
        return next(exchange)
      },
      close() {
        opened.close()
        return otlp?.close()
      },
    }
  }

const describe = ({ file, syslog, otlp, isStrict }: AuditSettings): string =>
  [
    ...(file ? [file.path] : []),
    ...(syslog ? [`syslog ${syslog}`] : []),
    ...(otlp ? ['OTLP'] : []),
    ...(isStrict ? ['refuses what it cannot record'] : []),
  ].join('; ')

/** Fails with `audit_otlp_unavailable`. */
async function openOtlp(app: App, config: RunConfig, log: Log): Promise<LogExport> {
  const opened = await (await app.find('logExports'))?.open(config, log)
  if (!opened) throw failures.audit_otlp_unavailable({ name: config.name })
  return opened
}

/** The last stage: the message is read as it goes to the server, and written first where that is asked for. */
export const forwardedMiddleware =
  (app: App): MiddlewareFactory =>
  async config => {
    const settings = settingsOf(config, app.paths)
    if (!settings) return undefined
    const records = await app.service('auditRecords')
    return {
      name: 'audit-forwarded',
      stage: 'forward',
      wrap: next => async exchange => {
        const record = records.get(exchange)
        const message = hasBody(exchange.request) ? await exchange.message() : undefined
        if (record?.forwarded(message) !== undefined) {
          throw await refuseUnavailable(
            exchange,
            'The call cannot be recorded in the audit log',
            RETRY_SECONDS,
          )
        }
        return next(exchange)
      },
    }
  }
