import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import type { TelemetryConfig } from './section.ts'

const table = {
  'otel-endpoint': flag.string(
    'where to send traces and metrics (OTLP over HTTP); without it, none are sent',
    {
      placeholder: 'HOST:PORT',
    },
  ),
  'otel-headers': flag.list(
    'header of the requests to the endpoint; its value is kept as a secret, but other users can see it in the list of processes while the command runs',
    'NAME=VALUE',
  ),
  'otel-headers-file': flag.file(
    'file with such headers, one NAME=VALUE on each line; other users cannot see their values',
  ),
  'otel-insecure': flag.boolean('send over plain HTTP instead of HTTPS'),
  'otel-ca-cert': flag.file('PEM file of certificates to trust at the endpoint besides those of the system'),
  'otel-service-name': flag.string('name of the service in traces and metrics', {
    placeholder: 'NAME',
    shown: 'thv-‹workload›',
  }),
  'otel-tracing-enabled': flag.boolean('send traces to the endpoint', { fallback: true }),
  'otel-metrics-enabled': flag.boolean('send metrics to the endpoint', { fallback: true }),
  'otel-sampling-rate': flag.string('share of the traces to send, from 0 to 1', {
    placeholder: 'RATE',
    shown: '0.1',
  }),
  'otel-custom-attributes': flag.string('attributes to add to everything that is sent', {
    placeholder: 'KEY=VALUE,…',
  }),
  'otel-env-vars': flag.commaList('environment variables to add to spans', 'NAME'),
  'otel-use-legacy-attributes': flag.boolean('also add attributes to spans under their older names', {
    fallback: true,
  }),
  'otel-enable-prometheus-metrics-path': flag.boolean(
    'serve /metrics for Prometheus without a login, on the port of the proxy and on --otel-prometheus-port',
  ),
  'otel-prometheus-port': flag.port(
    'port of this machine that serves /metrics for all workloads that name it',
    { shown: '9464' },
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** What is sent of requests to a collector; the same for workloads and for the standalone proxy. */
export const telemetryFlags: RunFlags = {
  title: 'Telemetry',
  of: ['run', 'proxy'],
  flags: table,
  async apply(values: FlagValues<typeof table>, config, given) {
    const all = await toMembers(values)
    const members = Object.fromEntries(
      Object.entries(MEMBER_OF).flatMap(([name, member]) => (given.has(name) ? [[member, all[member]]] : [])),
    )
    if (Object.keys(members).length) config.telemetry_config = members
  },
}

const MEMBER_OF = {
  'otel-endpoint': 'endpoint',
  'otel-headers': 'headers',
  'otel-headers-file': 'headers',
  'otel-insecure': 'insecure',
  'otel-ca-cert': 'caCertPath',
  'otel-service-name': 'serviceName',
  'otel-tracing-enabled': 'tracingEnabled',
  'otel-metrics-enabled': 'metricsEnabled',
  'otel-sampling-rate': 'samplingRate',
  'otel-custom-attributes': 'customAttributes',
  'otel-env-vars': 'environmentVariables',
  'otel-use-legacy-attributes': 'useLegacyAttributes',
  'otel-enable-prometheus-metrics-path': 'enablePrometheusMetricsPath',
  'otel-prometheus-port': 'prometheusPort',
} as const satisfies Record<keyof typeof table, keyof TelemetryConfig>

async function toMembers(values: FlagValues<typeof table>): Promise<TelemetryConfig> {
  const { 'otel-ca-cert': ca, 'otel-custom-attributes': attributes, 'otel-headers-file': file } = values
  const lines = file ? await readLines(file) : []
  return {
    endpoint: values['otel-endpoint'] ?? null,
    headers: {
      ...readPairs('otel-headers-file', lines),
      ...readPairs('otel-headers', values['otel-headers']),
    },
    insecure: values['otel-insecure'],
    caCertPath: ca ? resolve(ca) : null,
    serviceName: values['otel-service-name'] ?? null,
    tracingEnabled: values['otel-tracing-enabled'],
    metricsEnabled: values['otel-metrics-enabled'],
    samplingRate: values['otel-sampling-rate'] ?? null,
    customAttributes: readPairs('otel-custom-attributes', attributes?.split(',') ?? []),
    environmentVariables: [...values['otel-env-vars']],
    useLegacyAttributes: values['otel-use-legacy-attributes'],
    enablePrometheusMetricsPath: values['otel-enable-prometheus-metrics-path'],
    prometheusPort: values['otel-prometheus-port'] ?? null,
  }
}

/** Reads `key=value` pairs. What is wrong is not shown: it may be a secret. */
function readPairs(name: string, pairs: readonly string[]): Record<string, string> {
  const read = pairs.flatMap((pair): [string, string][] => {
    if (!pair.trim()) return []
    const at = pair.indexOf('=')
    if (at < 1) throw failures.usage({ text: `--${name} takes key=value.` })
    return [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]]
  })
  return Object.fromEntries(read)
}

async function readLines(file: string): Promise<string[]> {
  const { readUserFile } = await import('../../src/user-file.ts')
  return (await readUserFile(file, 'The --otel-headers-file')).split(/\r?\n/)
}
