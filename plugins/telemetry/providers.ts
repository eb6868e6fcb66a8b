import type { Tracer } from '@opentelemetry/api'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { Log } from '../../src/log.ts'
import { createInstruments, type Instruments } from './metrics/instruments.ts'
import { createScrapeReader, type ScrapeReader } from './metrics/scrape-reader.ts'
import { createSender } from './otlp/create-sender.ts'
import { metricExporter, spanExporter } from './otlp/exporters.ts'
import { flush } from './otlp/flush.ts'
import { resourceOf, SCOPE } from './resource.ts'
import type { TelemetrySettings } from './settings.ts'

/** The SDK for one workload. It is not the global one of the process, which hosts many workloads. */
export interface Providers {
  /** Undefined: no traces are sent. */
  readonly tracer: Tracer | undefined
  readonly instruments: Instruments
  /** Undefined where Prometheus is not served. */
  readonly reader: ScrapeReader | undefined
  /** Sends what is left, for at most two seconds. Never fails. */
  close(): Promise<void>
}

const METRICS_INTERVAL_MS = 60_000
/** Most different label sets of a metric. */
const MOST_SERIES = 2000

/** Fails as `readCaBundle`. */
export async function openProviders(settings: TelemetrySettings, log: Log): Promise<Providers> {
  const { endpoint, headers, serviceVersion } = settings
  const ca = await readCaBundle(settings.caCertPath)
  const resource = resourceOf(settings)
  const sender = endpoint && createSender({ base: endpoint.base, headers, ca, log })
  const traces =
    sender && settings.tracing
      ? new TracerProvider({
          resource,
          sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.samplingRate) }),
          spanProcessors: [new BatchSpanProcessor({ exporter: spanExporter(sender) })],
        })
      : undefined
  const reader = settings.prometheus ? createScrapeReader(MOST_SERIES) : undefined
  const pushed =
    sender && settings.metrics
      ? new PeriodicExportingMetricReader({
          exporter: metricExporter(sender),
          exportIntervalMillis: METRICS_INTERVAL_MS,
          cardinalityLimits: { default: MOST_SERIES },
        })
      : undefined
  const metrics = new MeterProvider({ resource, readers: [reader, pushed].filter(one => one !== undefined) })

  return {
    tracer: traces?.getTracer(SCOPE, serviceVersion),
    instruments: createInstruments(metrics.getMeter(SCOPE, serviceVersion)),
    reader,
    close: () => flush([traces, metrics], sender),
  }
}
