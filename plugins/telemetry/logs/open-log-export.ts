import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import type { LogExport } from '../../../src/contracts/log-export.ts'
import type { Sender } from '../otlp/create-sender.ts'
import { logExporter } from '../otlp/exporters.ts'
import { flush } from '../otlp/flush.ts'
import { resourceOf, SCOPE } from '../resource.ts'
import type { TelemetrySettings } from '../settings.ts'

const SEVERITY_INFO = 9

/** The SDK that sends logs of one workload. */
export function openLogExport(settings: TelemetrySettings, sender: Sender): LogExport {
  const provider = new LoggerProvider({
    resource: resourceOf(settings),
    processors: [new BatchLogRecordProcessor({ exporter: logExporter(sender) })],
  })
  const logger = provider.getLogger(SCOPE, settings.serviceVersion)
  return {
    emit: (eventName, body, attributes) =>
      logger.emit({ eventName, timestamp: Date.now(), severityNumber: SEVERITY_INFO, body, attributes }),
    close: () => flush([provider], sender),
  }
}
