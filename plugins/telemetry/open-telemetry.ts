import type { Middleware, MiddlewareContext } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import type { MetricsListeners } from './prometheus/metrics-listeners.ts'
import { createMetricsPath } from './prometheus/metrics-path.ts'
import { openProviders } from './providers.ts'
import { createRequestTelemetry } from './request-telemetry.ts'
import { settingsOf } from './settings.ts'

/** What a proxy gets of telemetry. */
export interface OpenTelemetry {
  readonly requests: Middleware
  /** Sees what never comes to `requests`. */
  readonly refused: Middleware
  /** Absent where `/metrics` is not served on the port of the proxy. */
  readonly metricsPath?: Middleware
}

/** Opens the telemetry of a workload whose run config asks for it. Fails as `readCaBundle`. */
export async function openTelemetry(
  config: RunConfig,
  {
    log,
    env,
    headers,
    listeners,
    listTools,
    onClose,
  }: {
    readonly log: Log
    readonly env: Readonly<Record<string, string | undefined>>
    /** Of exports, with their values. */
    readonly headers: Readonly<Record<string, string>>
    readonly listeners: MetricsListeners
    readonly listTools: MiddlewareContext['listTools']
    readonly onClose: () => void
  },
): Promise<OpenTelemetry> {
  const settings = settingsOf(config)
  const providers = await openProviders({ ...settings, headers }, log)
  const variables = Object.fromEntries(
    settings.variables.flatMap(name => (env[name] === undefined ? [] : [[`environment.${name}`, env[name]]])),
  )
  const { prometheus } = settings
  const { reader } = providers
  const leave = prometheus && reader && listeners.add(prometheus.port, { workload: config.name, reader }, log)
  return {
    ...createRequestTelemetry(config, settings, {
      providers,
      variables,
      listTools,
      onClose() {
        leave?.()
        onClose()
      },
    }),
    ...(prometheus?.onProxy && reader ? { metricsPath: createMetricsPath(reader) } : {}),
  }
}
