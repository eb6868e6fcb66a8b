import {
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import type { LogRecordExporter } from '@opentelemetry/sdk-logs'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Sender } from './create-sender.ts'

/** `ExportResultCode` of the SDK. */
const SUCCESS = 0
const FAILED = 1

const nothing = async () => {}

/** Sends spans to `/v1/traces`. */
export const spanExporter = (sender: Sender): SpanExporter => ({
  export: (spans, done) =>
    finish(sender, { path: '/v1/traces', body: ProtobufTraceSerializer.serializeRequest(spans) }, done),
  shutdown: nothing,
  forceFlush: nothing,
})

/** Sends metrics to `/v1/metrics`, as sums since the start. */
export const metricExporter = (sender: Sender): PushMetricExporter => ({
  export: (metrics, done) =>
    finish(sender, { path: '/v1/metrics', body: ProtobufMetricsSerializer.serializeRequest(metrics) }, done),
  shutdown: nothing,
  forceFlush: nothing,
})

/** Sends logs to `/v1/logs`. */
export const logExporter = (sender: Sender): LogRecordExporter => ({
  export: (records, done) =>
    finish(sender, { path: '/v1/logs', body: ProtobufLogsSerializer.serializeRequest(records) }, done),
  shutdown: nothing,
  forceFlush: nothing,
})

function finish(
  sender: Sender,
  { path, body }: { path: string; body: Uint8Array | undefined },
  done: (result: { code: typeof SUCCESS | typeof FAILED; error?: Error }) => void,
): void {
  // What cannot be serialized is dropped.
  const sent = body ? sender.send(path, body) : Promise.resolve()
  sent.then(
    () => done({ code: SUCCESS }),
    error => done({ code: FAILED, error }),
  )
}
