import type { Log } from '../log.ts'
import type { RunConfig } from './run-config.ts'

/** Sends records of other plugins to the endpoint of a workload's telemetry, as OTLP logs. */
export interface LogExports {
  /** Undefined where the workload has no endpoint. Fails where its headers or certificates cannot be read. */
  open(config: RunConfig, log: Log): Promise<LogExport | undefined>
}

/** Where the records of one workload go. Nothing waits for it: what cannot be sent is lost, and the log says so once. */
export interface LogExport {
  emit(eventName: string, body: string, attributes: Readonly<Record<string, string>>): void
  /** Sends what is left, for at most two seconds. */
  close(): Promise<void>
}
