import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { hasCallers } from '../../src/has-callers.ts'
import type { OtelSettings } from '../settings/index.ts'
import { assertUsable } from './assert-usable.ts'
import { failures } from './failures.ts'
import { concealHeaders, readHeaders, revealHeaders } from './header-secrets.ts'
import { withHeaderVariable } from './header-variable.ts'
import { type TelemetryConfig, telemetryOf } from './section.ts'

/** Of traces, where nobody says anything of it. */
const SAMPLING_RATE = '0.1'

/** Adds what the user's settings say of telemetry, and fails now where nothing could be sent later. */
export const telemetryPreparation = (app: App): Preparation => ({
  async complete(config, { options, typed }) {
    if (options['from-config'] !== undefined) {
      const said = telemetryOf(config)
      if (said) assertConfirmed(said, options)
    }
    const completed =
      options['from-config'] === undefined
        ? withSettings(config, {
            otel: await (await app.service('settings')).get('otel'),
            env: typed ? app.env : {},
          })
        : config
    const asked = telemetryOf(completed)
    await readCaBundle(asked?.caCertPath || undefined)
    if (asked) await readHeaders(app, completed) // fails now where one is missing
    return completed
  },
  conceal: config => concealHeaders(app, config),
  reveal: config => revealHeaders(app, config),
})

/**
 * The run config with the user's settings in place of what it does not say, and the headers of the environment of the
 * command that was typed. Fails with `telemetry_invalid`.
 */
function withSettings(
  config: RunConfig,
  { otel = {}, env }: { otel: OtelSettings | undefined; env: App['env'] },
): RunConfig {
  const said = config.telemetry_config ?? {}
  const settings: { readonly [K in keyof TelemetryConfig]: TelemetryConfig[K] | undefined } = {
    endpoint: otel.endpoint,
    insecure: otel.insecure,
    samplingRate: otel['sampling-rate'] === undefined ? undefined : String(otel['sampling-rate']),
    tracingEnabled: otel['tracing-enabled'],
    metricsEnabled: otel['metrics-enabled'],
    environmentVariables: otel['env-vars'],
    enablePrometheusMetricsPath: otel['enable-prometheus-metrics-path'],
    // Only somebody who says so for this workload shows its metrics to callers without a login.
    metricsOnTransportPort: otel['enable-prometheus-metrics-path'] && hasCallers(config) ? false : undefined,
  }
  const all = { ...definedOf(settings), ...definedOf(said) }
  if (said.enablePrometheusMetricsPath && said.metricsOnTransportPort === undefined)
    delete all.metricsOnTransportPort
  if (!telemetryOf({ ...config, telemetry_config: all })) return config
  const headers = all.endpoint ? withHeaderVariable(all.headers ?? {}, env) : {}
  const completed = {
    samplingRate: SAMPLING_RATE,
    ...all,
    ...(Object.keys(headers).length ? { headers } : {}),
  }
  assertUsable(completed)
  return { ...config, telemetry_config: completed }
}

const definedOf = (said: Readonly<Record<string, unknown>>): TelemetryConfig =>
  Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== null))

/**
 * A run config of a file may be a stranger's: where telemetry goes, and which variables it holds, is for the person to
 * say. Fails with `telemetry_unconfirmed`.
 */
function assertConfirmed(said: TelemetryConfig, options: RunOptions): void {
  const { endpoint, environmentVariables, caCertPath, insecure } = said
  if (said.enablePrometheusMetricsPath && !options['otel-enable-prometheus-metrics-path']) {
    throw failures.telemetry_unconfirmed({
      what: 'served at /metrics without a login',
      flag: '--otel-enable-prometheus-metrics-path',
    })
  }
  if (endpoint && options['otel-endpoint'] !== endpoint) {
    throw failures.telemetry_unconfirmed({ what: `to ${endpoint}`, flag: `--otel-endpoint ${endpoint}` })
  }
  if (endpoint && insecure && !endpoint.includes('://') && !options['otel-insecure']) {
    throw failures.telemetry_unconfirmed({ what: `to ${endpoint} over plain HTTP`, flag: '--otel-insecure' })
  }
  const typed = new Set(options['otel-env-vars'])
  const unconfirmed = environmentVariables?.filter(name => !typed.has(name)) ?? []
  if (unconfirmed.length) {
    const names = unconfirmed.join(',')
    throw failures.telemetry_unconfirmed({
      what: `with the variables ${names}`,
      flag: `--otel-env-vars ${names}`,
    })
  }
  if (caCertPath && options['otel-ca-cert'] !== caCertPath) {
    throw failures.telemetry_unconfirmed({
      what: `certificates of ${caCertPath}`,
      flag: `--otel-ca-cert ${caCertPath}`,
    })
  }
}
