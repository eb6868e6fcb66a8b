import { VERSION } from '../../src/build-info.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { type Endpoint, parseEndpoint } from './endpoint.ts'
import { telemetryOf } from './section.ts'

/** What is sent and served of one workload. */
export interface TelemetrySettings {
  /** The name of the workload. */
  readonly workload: string
  readonly transport: RunConfig['transport']
  readonly serviceName: string
  readonly serviceVersion: string
  readonly attributes: Readonly<Record<string, string>>
  /** Where traces and metrics are sent; undefined: nowhere. */
  readonly endpoint: Endpoint | undefined
  readonly tracing: boolean
  readonly metrics: boolean
  /** From 0 to 1. */
  readonly samplingRate: number
  readonly headers: Readonly<Record<string, string>>
  readonly caCertPath: string | undefined
  readonly variables: readonly string[]
  readonly legacyAttributes: boolean
  readonly prometheus: PrometheusSettings | undefined
}

interface PrometheusSettings {
  /** Of the listener on this machine. */
  readonly port: number
  readonly onProxy: boolean
}

/** Of traces, where a run config has an endpoint and says nothing of it. */
const SAMPLING_RATE = 0.05
const PROMETHEUS_PORT = 9464

/** The settings of a workload whose run config asks for telemetry. */
export function settingsOf(config: RunConfig): TelemetrySettings {
  const said = telemetryOf(config) ?? {}
  const { tracingEnabled, metricsEnabled } = said
  return {
    workload: config.name,
    transport: config.transport,
    serviceName: said.serviceName || `thv-${config.name}`,
    serviceVersion: said.serviceVersion || VERSION,
    attributes: said.customAttributes ?? {},
    endpoint: said.endpoint ? parseEndpoint(said.endpoint, { insecure: said.insecure === true }) : undefined,
    // A document that turns one of them on and does not mention the other was written with the other off.
    tracing: tracingEnabled ?? metricsEnabled !== true,
    metrics: metricsEnabled ?? tracingEnabled !== true,
    samplingRate: said.samplingRate ? Number(said.samplingRate) : SAMPLING_RATE,
    headers: said.headers ?? {},
    caCertPath: said.caCertPath || undefined,
    variables: said.environmentVariables ?? [],
    legacyAttributes: said.useLegacyAttributes !== false,
    prometheus: said.enablePrometheusMetricsPath
      ? { port: said.prometheusPort || PROMETHEUS_PORT, onProxy: said.metricsOnTransportPort !== false }
      : undefined,
  }
}
